public import Foundation

/// A refusal in the server's own words, as a ``TypedEndpoint`` reads them, with all that is known of it beside.
///
/// ```swift
/// } catch let error as ServerFailure<LoginError> where error.status == .unprocessableContent {
///     form.show(error.serverError.fields)
/// }
/// ```
public struct ServerFailure<ServerError: Sendable>: Error {
    /// What the server says.
    public let serverError: ServerError
    /// Status, headers, request, response and attempts.
    public internal(set) var networkError: NetworkError

    /// Makes a failure.
    public init(_ serverError: ServerError, _ networkError: NetworkError) {
        self.serverError = serverError
        self.networkError = networkError
    }

    /// The status of the response.
    public var status: HTTPStatus? { networkError.status }
}

extension ServerFailure: RedactedReflectable, LocalizedError {
    /// One line: method, host, path and status, and the type of what the server says. Not what it says: that may be
    /// anybody's business.
    var redactedDescription: String { "\(networkError) (\(ServerError.self))" }

    /// What the server's error says of itself, where it is a `LocalizedError`; else the line.
    public var errorDescription: String? { (serverError as? any LocalizedError)?.errorDescription ?? description }
}

extension ServerFailure: CausedByNetworkError {
    var networkCause: NetworkError? { networkError }

    mutating func changeCause(_ change: (inout NetworkError) -> Void) {
        change(&networkError)
    }
}

extension RequestFailure {
    /// The refusal as an error with its type.
    func serverFailure(_ error: NetworkError) -> (any Error)? {
        guard let response else { return nil }
        if let call = endpoint as? AdHocEndpoint { return call.serverFailure?(response, decoder, error) }
        guard let endpoint = endpoint as? any TypedEndpoint else { return nil }
        return RequestFailure.serverFailure(endpoint, response, decoder, error)
    }

    private static func serverFailure<Call: TypedEndpoint>(
        _ endpoint: Call, _ response: HTTPResponse, _ decoder: JSONDecoder, _ error: NetworkError
    ) -> (any Error)? {
        endpoint.serverError(in: response, decoder: decoder).map { ServerFailure($0, error) }
    }
}

extension AdHocEndpoint {
    /// The call with the type of the server's errors: the body of a refusal is read as it, and the call fails with a
    /// ``ServerFailure``.
    ///
    /// ```swift
    /// do {
    ///     try await shop.request(.post("orders").body(.json(order)).failing(as: ShopError.self))
    /// } catch let error as ServerFailure<ShopError> { show(error.serverError.message) }
    /// ```
    public func failing<ServerError: Decodable & Sendable>(as type: ServerError.Type) -> AdHocEndpoint {
        with {
            let read: @Sendable (HTTPResponse, JSONDecoder) -> ServerError? = { response, decoder in
                try? ResponseConverter<ServerError>.automatic(decoder: decoder).convertNow(response, decoder)
            }
            $0.serverError = { read($0, $1) }
            $0.serverFailure = { response, decoder, error in read(response, decoder).map { ServerFailure($0, error) } }
        }
    }
}
