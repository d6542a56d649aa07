/// The value of a call together with the response it was read from.
public struct Response<Value: Sendable>: Sendable {
    /// What the converter read.
    public let value: Value
    /// The response, with the request that it answers.
    public let http: HTTPResponse

    /// What happened in the call: attempts, waits, times.
    public let report: CallReport

    /// Makes a response.
    ///
    /// - Parameter report: What happened in the call; one attempt that took no time unless told.
    public init(_ value: Value, _ http: HTTPResponse, report: CallReport? = nil) {
        self.value = value
        self.http = http
        self.report =
            report
            ?? CallReport(
                of: nil,
                last: RequestAttempt(
                    number: 1, request: http.request, response: http, error: nil, duration: .zero), duration: .zero)
    }

    /// The status.
    public var status: HTTPStatus { http.status }

    /// The header fields.
    public var headers: HTTPHeaders { http.headers }

    /// The response with its value changed.
    public func map<Other: Sendable>(_ transform: (Value) throws -> Other) rethrows -> Response<Other> {
        Response<Other>(try transform(value), http, report: report)
    }
}
