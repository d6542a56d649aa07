public import Foundation
public import Networking

/// A response that a ``StubTransport`` returns, or an error that it throws.
public struct StubResponse: PreparedResponse {
    /// The status code. Default: 200.
    public var status: HTTPStatus
    /// The header fields. Default: none.
    public var headers: HTTPHeaders
    /// The body. Default: empty.
    public var body: Data
    /// The delay before the response, on the clock of the ``StubTransport``. Default: zero.
    public var delay: Duration = .zero
    /// The error that the transport throws instead of a response. Default: nil.
    public var error: (any Error)?
    /// A closure that opens the WebSocket of a handshake; nil for other responses.
    var socket: (@Sendable (WebSocketOrder) -> Void)?

    /// Creates a response.
    public init(_ status: HTTPStatus = .ok, headers: HTTPHeaders = [], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns a stub that throws an error instead of a response.
    public static func failure(_ error: any Error) -> StubResponse {
        var response = StubResponse()
        response.error = error
        return response
    }

    /// Returns a stub that throws a ``NetworkError`` instead of a response.
    public static func failure(_ kind: NetworkError.Kind) -> StubResponse {
        .failure(NetworkError(kind))
    }
}
