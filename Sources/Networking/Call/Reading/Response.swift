/// The value of a call, together with the response from which the value was read.
public struct Response<Value: Sendable>: Sendable {
    /// The value that the converter has read.
    public let value: Value
    /// The response, with its request.
    public let http: HTTPResponse

    private let draft: CallReport.Draft?

    /// Creates a response.
    public init(_ value: Value, _ http: HTTPResponse) { self.init(value, http, nil) }

    init(_ value: Value, _ http: HTTPResponse, _ draft: CallReport.Draft?) {
        self.value = value
        self.http = http
        self.draft = draft
    }

    /// The report of the call: attempts, waits, durations. If the response was not returned by a call of a service, the
    /// report contains one attempt with a duration of zero.
    public var report: CallReport {
        if let draft { return draft.report(on: http) }
        let last = RequestAttempt(number: 1, request: http.request, response: http, error: nil, duration: .zero)
        return CallReport(of: nil, last: last, duration: .zero)
    }

    /// Returns the response with its value transformed.
    public func map<Other: Sendable>(_ transform: (Value) throws -> Other) rethrows -> Response<Other> {
        Response<Other>(try transform(value), http, draft)
    }
}

extension Response: RedactedReflectable {
    /// The status, the method, the host and the path. The value and the endpoint are not included, because their
    /// members may be secret.
    var redactedDescription: String { http.description }
}
