/// The value of a call together with the response it was read from.
public struct Response<Value: Sendable>: Sendable {
    /// What the converter read.
    public let value: Value
    /// The response, with the request that it answers.
    public let http: HTTPResponse

    private let record: CallRecord?

    /// Makes a response.
    public init(_ value: Value, _ http: HTTPResponse) {
        self.init(value, http, record: nil)
    }

    init(_ value: Value, _ http: HTTPResponse, record: CallRecord?) {
        self.value = value
        self.http = http
        self.record = record
    }

    /// What happened in the call: attempts, waits, times. Of a response that no call of a service gave: one attempt
    /// that took no time.
    public var report: CallReport {
        if let record { return record.report(on: http) }
        let last = RequestAttempt(number: 1, request: http.request, response: http, error: nil, duration: .zero)
        return CallReport(of: nil, last: last, duration: .zero)
    }

    /// The status.
    public var status: HTTPStatus { http.status }

    /// The header fields.
    public var headers: HTTPHeaders { http.headers }

    /// The response with its value changed.
    public func map<Other: Sendable>(_ transform: (Value) throws -> Other) rethrows -> Response<Other> {
        Response<Other>(try transform(value), http, record: record)
    }
}

extension Response: RedactedReflectable {
    /// Status, method, host and path; neither the value nor the endpoint, whose members may be secret.
    var redactedDescription: String { http.description }
}
