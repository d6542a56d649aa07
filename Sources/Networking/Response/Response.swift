/// The value of a call together with the response it was read from.
public struct Response<Value: Sendable>: Sendable {
    /// What the converter read.
    public let value: Value
    /// The response, with the request that it answers.
    public let http: HTTPResponse

    /// Makes a response.
    public init(_ value: Value, _ http: HTTPResponse) {
        self.value = value
        self.http = http
    }

    /// The status.
    public var status: HTTPStatus { http.status }

    /// The header fields.
    public var headers: HTTPHeaders { http.headers }

    /// The response with its value changed.
    public func map<Other: Sendable>(_ transform: (Value) throws -> Other) rethrows -> Response<Other> {
        Response<Other>(try transform(value), http)
    }
}
