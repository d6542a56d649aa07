import Foundation

/// Issues requests: ``NetworkService`` and its subclasses, or your own struct or actor with a ``NetworkClient``.
///
/// The protocol has one requirement. All calls are methods of its extensions, and go through `send(_:as:with:)`.
///
/// | form | returns |
/// |---|---|
/// | `request(_:)`, `request(_:as:)` | the value |
/// | `response(_:)`, `send(_:as:)` | the value and the response |
/// | `request(for:success:failure:)` | a ``CancellableRequest``; the closures run on the main actor |
/// | `task(_:as:)` | a ``RequestTask``, which runs at once and can be cancelled, paused and chained |
///
/// ## Tasks, threads and errors
///
/// An asynchronous call runs in the task of its caller. Cancelling that task ends the call. Methods may be called from
/// any thread. A call throws the error that the error handlers and ``NetworkConfiguration/errorMapping`` make of the
/// failure.
///
/// A wrapper of your own takes `some Endpoint<Untyped>` if the caller names the result type, and `some Endpoint` if it
/// takes a converter.
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
    /// The parts that requests pass through.
    var client: NetworkClient { get }
}

extension NetworkRequesting {
    /// Sends a request and returns the value and the response it was read from.
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - converter: Reads the response.
    ///   - settings: Settings for this call alone.
    public func send<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) async throws -> Response<Value> {
        try await client.pipeline(endpoint, as: converter, with: settings).run()
    }

    /// Sends a request and returns a value: text by its charset for `String`, bytes for `Data`, everything else from
    /// JSON. Of an optional of any of these, an empty body is nil.
    public func request<Value: Decodable & Sendable>(
        _ endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        try await send(endpoint, as: automatic(for: endpoint, settings), with: settings).value
    }

    /// Sends a request whose response has nothing to read: any body, also an empty one, is accepted.
    public func request(
        _ endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings()
    ) async throws {
        _ = try await send(endpoint, as: .void, with: settings)
    }

    /// Sends a request and returns what a converter reads.
    public func request<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        try await send(endpoint, as: converter, with: settings).value
    }

    /// Sends a request and returns a value, read by its type, and the response.
    public func response<Value: Decodable & Sendable>(
        _ endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings()
    ) async throws -> Response<Value> {
        try await send(endpoint, as: automatic(for: endpoint, settings), with: settings)
    }

    /// Starts a call in a task of its own, at once.
    public func task<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) -> RequestTask<Value> {
        RequestTask(client.pipeline(endpoint, as: converter, with: settings))
    }

    /// The request of a call as it would be sent now, with everything that endpoint, environment, settings, adapters
    /// and cookies add; nothing is sent. The session adds its current token, and refreshes none.
    ///
    /// ```swift
    /// print(try await service.httpRequest(for: ProfileEndpoint.fetch(id: 7)).curlCommand())
    /// ```
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - converter: What would read the response, and says what the request accepts. Default: anything.
    ///   - settings: Settings for this call alone.
    /// - Throws: What the call would end with before it is sent: a fault of the endpoint, or the error of an adapter.
    public func httpRequest<Value: Sendable>(
        for endpoint: some Endpoint, as converter: ResponseConverter<Value> = .void,
        with settings: RequestSettings = RequestSettings()
    ) async throws -> HTTPRequest {
        try await client.adaptedRequest(of: endpoint, as: converter, with: settings)
    }

    /// The observers of the calls. They can be changed while the app runs.
    public var observers: RequestObservers { client.observers }

    func automatic<Value: Decodable>(
        for endpoint: any Endpoint, _ settings: RequestSettings
    ) -> ResponseConverter<Value> {
        .automatic(decoder: decoder(for: endpoint, settings))
    }
}

extension NetworkRequesting {
    /// The decoder of one call: what the call says, then the endpoint, then the service.
    func decoder(for endpoint: any Endpoint, _ settings: RequestSettings) -> JSONDecoder {
        settings.decoder ?? endpoint.settings.decoder ?? client.settings.decoder ?? JSONDecoder()
    }
}
