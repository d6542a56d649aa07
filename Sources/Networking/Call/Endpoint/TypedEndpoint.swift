/// An endpoint that declares its result type, and the type of the server's errors. Its response is read as another type
/// only if the call names a converter.
///
/// ```swift
/// struct LogIn: TypedEndpoint {
///     typealias ResponseValue = Grant            // request(LogIn(…)) needs no type at the call
///     typealias ServerError = LoginError         // the type of an error's body
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
/// The type `ResponseValue` determines how the response is read, as in `request(_:)`. If it is `Void`, nothing is read.
/// `ServerError` determines how the body of an error response is read: a `String` is the text of the body, and an
/// optional is nil if the body is empty. If the body cannot be read as `ServerError`, the call still ends with an error
/// that has the status.
public protocol TypedEndpoint<ResponseValue>: Endpoint {
    /// The type of the body of an error response. Default: none.
    associatedtype ServerError: Decodable & Sendable = Untyped

    /// Returns the converter that reads a response. Default: the converter for the type of the value.
    ///
    /// - Parameter decoder: The decoder of the call.
    func converter(decoder: any BodyDecoder) -> ResponseConverter<ResponseValue>
    /// Returns the converter that reads the body of an error response. Default: the converter for the type of the
    /// server error.
    ///
    /// - Parameter decoder: The decoder of the call.
    func errorConverter(decoder: any BodyDecoder) -> ResponseConverter<ServerError>
}

extension TypedEndpoint where ResponseValue: Decodable {
    /// Returns the converter for the type of the value.
    public func converter(decoder: any BodyDecoder) -> ResponseConverter<ResponseValue> { .automatic(decoder: decoder) }
}

extension TypedEndpoint where ResponseValue == Void {
    // The result is not `ResponseConverter<Void>`, because the compiler would then treat an endpoint's own
    // `ResponseValue` as `Void`.
    /// Returns a converter that reads nothing.
    public func converter(decoder: any BodyDecoder) -> ResponseConverter<ResponseValue> { .void }
}

extension TypedEndpoint {
    /// Returns the converter for the type of the server error.
    public func errorConverter(decoder: any BodyDecoder) -> ResponseConverter<ServerError> {
        .automatic(decoder: decoder)
    }

    /// Whether the endpoint declares a type for the server's errors.
    var declaresServerError: Bool { ServerError.self != Untyped.self }

    /// Returns the server's error in an error response; nil if the endpoint declares no type for the error, or if the
    /// body cannot be read as this type.
    func serverError(in response: HTTPResponse, decoder: any BodyDecoder) -> ServerError? {
        guard declaresServerError else { return nil }
        return try? errorConverter(decoder: decoder).reading.convertNow(response.leavingCall(), decoder)
    }
}
