public import Foundation
public import Networking

/// A response of a ``StubTransport``, or the error that it throws.
public struct StubResponse: PreparedResponse {
    /// The status.
    public var status: HTTPStatus
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body.
    public var body: Data
    /// The delay before the response, on the stub's clock. Default: zero.
    public var delay: Duration = .zero
    /// The error that is thrown in place of a response. Default: nil.
    public var error: (any Error)?

    /// Creates a response.
    public init(_ status: HTTPStatus = .ok, headers: HTTPHeaders = [], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An error in place of a response.
    public static func failure(_ error: any Error) -> StubResponse {
        var response = StubResponse()
        response.error = error
        return response
    }

    /// A ``NetworkError`` in place of a response.
    public static func failure(_ kind: NetworkError.Kind) -> StubResponse {
        .failure(NetworkError(kind))
    }
}
