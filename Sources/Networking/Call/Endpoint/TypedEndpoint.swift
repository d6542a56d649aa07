public import Foundation

/// An endpoint that knows its result type, and the type of the server's errors. It cannot be read as another type,
/// but by a converter that the call names.
///
/// ```swift
/// struct LogIn: TypedEndpoint {
///     typealias ResponseValue = Grant            // request(LogIn(…)) needs no type at the call
///     typealias ServerError = LoginError         // what the body of a 4xx or 5xx is
///
///     let name: String, password: String
///     let path: EndpointPath = "login"
///     let method = HTTPMethod.post
///     var body: HTTPBody { .json(["name": name, "password": password]) }
/// }
///
/// do {
///     grant = try await accounts.request(LogIn(name: name, password: password))
/// } catch let error as ServerFailure<LoginError> {
///     show(error.serverError.message, error.status)
/// }
/// ```
///
/// `ResponseValue` is read by its type, as `request(_:)` does; `Void` reads nothing. `ServerError` is, too: `String`
/// is the body's text, and of an optional an empty body is nil. A body that cannot be read as it never hides the
/// status.
public protocol TypedEndpoint<ResponseValue>: Endpoint {
    /// The type that the body of a refusal is read as. Default: none.
    associatedtype ServerError: Decodable & Sendable = Untyped

    /// Reads a response. Default: by its type.
    ///
    /// - Parameter decoder: The JSON decoder that holds for the call.
    func converter(decoder: JSONDecoder) -> ResponseConverter<ResponseValue>
    /// Reads the body of a refusal. Default: by its type.
    ///
    /// - Parameter decoder: The JSON decoder that holds for the call.
    func errorConverter(decoder: JSONDecoder) -> ResponseConverter<ServerError>
}

extension TypedEndpoint where ResponseValue: Decodable {
    /// By the value's type.
    public func converter(decoder: JSONDecoder) -> ResponseConverter<ResponseValue> { .automatic(decoder: decoder) }
}

extension TypedEndpoint where ResponseValue == Void {
    // Not `ResponseConverter<Void>`: an endpoint's own `ResponseValue` would be taken for that.
    /// Reads nothing.
    public func converter(decoder: JSONDecoder) -> ResponseConverter<ResponseValue> { .void }
}

extension TypedEndpoint {
    /// By the server error's type.
    public func errorConverter(decoder: JSONDecoder) -> ResponseConverter<ServerError> { .automatic(decoder: decoder) }

    /// The server's error in a refusal; nil if the endpoint has none, and where the body is another one.
    func serverError(in response: HTTPResponse, decoder: JSONDecoder) -> ServerError? {
        guard ServerError.self != Untyped.self else { return nil }
        return try? errorConverter(decoder: decoder).convertNow(response, decoder)
    }
}
