import Foundation

/// A type that sends requests: ``NetworkService`` and its subclasses, or your own struct or actor with a
/// ``NetworkClient``.
///
/// The protocol has one requirement. The methods that make calls are declared in its extensions.
///
/// | form | returns |
/// |---|---|
/// | `request(_:)`, `request(_:as:)` | the value |
/// | `response(_:)`, `send(_:as:)` | the value and the response |
/// | `request(for:success:failure:)` | a ``CancellableRequest``; the closures run on the main actor |
/// | `task(_:as:)` | a ``RequestTask``, which starts immediately and can be cancelled, paused and chained |
///
/// ## Tasks, threads and errors
///
/// An asynchronous call runs in the task of its caller. Cancelling that task ends the call. The methods may be
/// called from any thread. A call throws the error that the error handlers and ``NetworkConfiguration/errorMapping``
/// create from the failure.
///
/// If you write a generic method that calls these methods, declare its parameter as `some Endpoint<Untyped>` if the
/// caller determines the result type, and as `some Endpoint` if the method takes a converter.
///
/// ## Example
///
/// ```swift
/// struct Weather: NetworkRequesting {
///     let client: NetworkClient
///
///     func today() async throws -> Forecast { try await request(WeatherEndpoint.today) }
/// }
/// ```
public protocol NetworkRequesting: Sendable {
    /// The client that sends the requests.
    var client: NetworkClient { get }
}

extension NetworkRequesting {
    /// Sends a request and returns the value and the response from which it was read.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint to call.
    ///   - converter: The converter that reads the response.
    ///   - settings: Settings for this call only. Default: no changes.
    @inline(__always)  // as `RequestPipeline.attempt`
    public func send<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) async throws -> Response<Value> {
        try await client.pipeline(endpoint, as: converter, with: settings).response(converter)
    }

    /// Sends a request and returns the value of its response. A `String` is decoded by the charset of the response,
    /// `Data` contains the bytes, and every other type is decoded from JSON. If the type is optional, an empty body
    /// returns nil.
    public func request<Value: Decodable & Sendable>(
        _ endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        try await send(endpoint, as: .automatic(), with: settings).value
    }

    /// Sends a request and ignores the body of the response. Any body is accepted, including an empty body.
    public func request(
        _ endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings()
    ) async throws {
        _ = try await send(endpoint, as: .void, with: settings)
    }

    /// Sends a request and returns the value that the converter reads.
    public func request<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        try await send(endpoint, as: converter, with: settings).value
    }

    /// Sends a request and returns its value together with the response. The type of the value determines how the
    /// response is read.
    public func response<Value: Decodable & Sendable>(
        _ endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings()
    ) async throws -> Response<Value> {
        try await send(endpoint, as: .automatic(), with: settings)
    }

    /// Starts a call immediately, in a task of its own.
    public func task<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) -> RequestTask<Value> {
        RequestTask(endpoint, on: client, converter, with: client.resolved(settings, for: endpoint))
    }

    /// Returns the request of a call as it would be sent now, with everything that the endpoint, environment, settings,
    /// adapters and cookies add. Does not send the request. The session adds its current token, and does not refresh
    /// it.
    ///
    /// ```swift
    /// print(try await service.httpRequest(for: ProfileEndpoint.fetch(id: 7)).curlCommand())
    /// ```
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint to call.
    ///   - converter: The converter that would read the response. It determines the `Accept` header. Default: `.void`,
    ///     which accepts any media type.
    ///   - settings: Settings for this call only. Default: no changes.
    /// - Throws: The error with which the call would fail before its request is sent: an error in the endpoint, or the
    ///   error of an adapter.
    public func httpRequest<Value: Sendable>(
        for endpoint: some Endpoint, as converter: ResponseConverter<Value> = .void,
        with settings: RequestSettings = RequestSettings()
    ) async throws -> HTTPRequest {
        try await client.pipeline(endpoint, as: converter, with: settings).adaptedRequest()
    }

    /// The observers of the calls. They can be changed while the app runs.
    public var observers: RequestObservers { client.observers }
}
