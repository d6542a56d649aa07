public import Foundation

/// A failure that contains two errors: the server's error, decoded from the error response, and the ``NetworkError`` of
/// that response.
///
/// ```swift
/// } catch let error as ServerFailure<LoginError> where error.status == .unprocessableContent {
///     form.show(error.serverError.fields)
/// }
/// ```
public struct ServerFailure<ServerError: Sendable>: Error {
    /// The error that the server sent.
    public let serverError: ServerError
    /// The network error, with status, headers, request, response and attempts.
    public internal(set) var networkError: NetworkError

    /// Creates a failure.
    public init(_ serverError: ServerError, _ networkError: NetworkError) {
        self.serverError = serverError
        self.networkError = networkError
    }

    /// The status of the response.
    public var status: HTTPStatus? { networkError.status }
}

extension ServerFailure: RedactedReflectable, LocalizedError {
    /// One line: the method, host, path and status, and the type of the server's error. The server's error itself is
    /// not shown, because it may contain personal data.
    var redactedDescription: String { "\(networkError) (\(ServerError.self))" }

    /// The description of the server's error if it is a `LocalizedError`. Otherwise the one-line description.
    public var errorDescription: String? { (serverError as? any LocalizedError)?.errorDescription ?? description }
}

extension ServerFailure: CausedByNetworkError {
    var networkCause: NetworkError? { networkError }

    mutating func changeCause(_ change: (inout NetworkError) -> Void) {
        change(&networkError)
    }
}

extension RequestFailure {
    /// Returns the error response as a ``ServerFailure``. The endpoint determines the type of the server's error. If it
    /// does not, the service determines the type.
    func serverFailure(_ error: NetworkError) -> (any Error)? {
        guard let response, response.isReadable else { return nil }
        if let make = (endpoint as? AdHocEndpoint)?.serverFailure { return make(response, decoder, error) }
        if let endpoint = endpoint as? any TypedEndpoint, endpoint.declaresServerError {
            return RequestFailure.serverFailure(endpoint, response, decoder, error)
        }
        return serverErrorType.flatMap { serverFailure($0, error) }
    }

    private func serverFailure<ServerError: Decodable & Sendable>(
        _ type: ServerError.Type, _ error: NetworkError
    ) -> (any Error)? {
        read(type).map { ServerFailure($0, error) }
    }

    private static func serverFailure<Call: TypedEndpoint>(
        _ endpoint: Call, _ response: HTTPResponse, _ decoder: any BodyDecoder, _ error: NetworkError
    ) -> (any Error)? {
        endpoint.serverError(in: response, decoder: decoder).map { ServerFailure($0, error) }
    }
}

extension AdHocEndpoint {
    /// Returns the call with the type of the server's errors. The body of an error response is decoded as this type,
    /// and the call fails with a ``ServerFailure``.
    ///
    /// ```swift
    /// do {
    ///     try await shop.request(.post("orders").body(.json(order)).failing(as: ShopError.self))
    /// } catch let error as ServerFailure<ShopError> { show(error.serverError.message) }
    /// ```
    public func failing<ServerError: Decodable & Sendable>(as type: ServerError.Type) -> AdHocEndpoint {
        with {
            let read: @Sendable (HTTPResponse, any BodyDecoder) -> ServerError? = { response, decoder in
                try? ResponseConverter<ServerError>.automatic(decoder: decoder).reading.convertNow(response, decoder)
            }
            $0.serverError = { read($0, $1) }
            $0.serverFailure = { response, decoder, error in read(response, decoder).map { ServerFailure($0, error) } }
        }
    }
}
