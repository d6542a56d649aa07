public import Foundation

/// An endpoint that knows its answer, and what the server says where it refuses.
///
/// ```swift
/// struct LogIn: TypedEndpoint {
///     typealias Value = Grant                    // request(LogIn(…)) needs no type at the call
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
/// `Value` is read by its type, as `request(_:)` does; `Void` reads nothing. `ServerError` is, too: `String` is the body's
/// text, and of an optional an empty body is nil. A body that cannot be read as it never hides the status.
public protocol TypedEndpoint<Value>: Endpoint {
    /// What an answer is read as.
    associatedtype Value: Sendable
    /// What the body of a refusal is read as; none unless said otherwise.
    associatedtype ServerError: Decodable & Sendable = NoServerError

    /// What reads an answer; by its type unless said otherwise.
    ///
    /// - Parameter decoder: The JSON decoder that holds for the call.
    func converter(decoder: JSONDecoder) -> ResponseConverter<Value>
    /// What reads the body of a refusal; by its type unless said otherwise.
    ///
    /// - Parameter decoder: The JSON decoder that holds for the call.
    func errorConverter(decoder: JSONDecoder) -> ResponseConverter<ServerError>
}

/// The server error of endpoints that have none.
public enum NoServerError: Decodable, Sendable {
    /// There is none to read.
    public init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "the endpoint has no server error"))
    }
}

extension TypedEndpoint where Value: Decodable {
    /// By the value's type.
    public func converter(decoder: JSONDecoder) -> ResponseConverter<Value> { .automatic(decoder: decoder) }
}

extension TypedEndpoint where Value == Void {
    // Not `ResponseConverter<Void>`: an endpoint's own `Value` would be taken for that.
    /// Reads nothing.
    public func converter(decoder: JSONDecoder) -> ResponseConverter<Value> { .void }
}

extension TypedEndpoint {
    /// By the server error's type.
    public func errorConverter(decoder: JSONDecoder) -> ResponseConverter<ServerError> { .automatic(decoder: decoder) }

    /// The server's error in a refusal; nil where the endpoint has none, and where the body is another one.
    func serverError(in response: HTTPResponse, decoder: JSONDecoder) -> ServerError? {
        guard ServerError.self != NoServerError.self else { return nil }
        return try? errorConverter(decoder: decoder).convertNow(response, decoder)
    }
}
