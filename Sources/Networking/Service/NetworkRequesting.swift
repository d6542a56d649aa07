import Foundation

/// A type that sends requests: ``NetworkService`` and its subclasses, or your own struct or actor with a
/// ``NetworkClient``.
///
/// The protocol has one requirement. The methods that make calls are declared in its extensions.
///
/// | form | returns |
/// |---|---|
/// | `request(_:)`, `request(_:as:)` | the value |
/// | `response(_:)`, `response(_:as:)` | the value and the response |
/// | `request(for:success:failure:)` | a ``CancellableRequest``; the closures run on the main actor |
/// | `task(_:as:)` | a ``RequestTask``, which starts immediately and can be cancelled, paused and chained |
///
/// ## Tasks, threads and errors
///
/// An asynchronous call runs in the task of its caller. Cancelling that task ends the call. The methods may be
/// called from any thread. A call throws the error that the error handlers and ``NetworkConfiguration/errorMapping``
/// create from the failure.
///
/// If you write a generic method that takes a converter, its endpoint parameter has the type `some Endpoint`. If the
/// method or its caller chooses the result type instead, the parameter has the type `some Endpoint<Untyped>`.
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
    public func response<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) async throws -> Response<Value> {
        let (value, outcome) = try await client.pipeline(endpoint, as: converter, with: settings).value(converter)
        return Response(value, outcome)
    }

    /// Sends a request and returns the value of its response. A `String` is decoded by the charset of the response,
    /// `Data` contains the bytes, and every other type is decoded from JSON. If the type is optional and the body is
    /// empty, the method returns nil.
    public func request<Value: Decodable & Sendable>(
        _ endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        try await request(endpoint, as: .automatic(), with: settings)
    }

    /// Sends a request and ignores the body of the response. Any body is accepted, including an empty body.
    public func request(
        _ endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings()
    ) async throws {
        try await request(endpoint, as: .void, with: settings)
    }

    /// Sends a request and returns the value that the converter reads.
    @inline(__always)  // as `RequestPipeline.attempt`
    public func request<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        try await client.pipeline(endpoint, as: converter, with: settings).value(converter).0
    }

    /// Sends a request and returns its value together with the response. The type of the value determines how the
    /// response is read.
    public func response<Value: Decodable & Sendable>(
        _ endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings()
    ) async throws -> Response<Value> {
        try await response(endpoint, as: .automatic(), with: settings)
    }

    /// Starts a call immediately, in a task of its own.
    public func task<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) -> RequestTask<Value> {
        RequestTask(endpoint, on: client, converter, with: client.resolved(settings, for: endpoint))
    }

    /// Returns the request of a call as it would be sent now, with everything that the endpoint, environment, settings,
    /// adapters and cookies add. Does not send the request. The session adds its current token.
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
    ///   - refreshing: Whether the method waits for a valid token, as a call does. It then waits until the store has
    ///     been read. If the token has expired or is about to expire, it also waits for a refresh. Pass true if other
    ///     code sends the request, such as a background session. Default: false; the request gets the current token,
    ///     even if that token has expired.
    /// - Throws: The error with which the call would fail before its request is sent: an error in the endpoint, or the
    ///   error of an adapter or of the refresh.
    public func httpRequest<Value: Sendable>(
        for endpoint: some Endpoint, as converter: ResponseConverter<Value> = .void,
        with settings: RequestSettings = RequestSettings(), refreshing: Bool = false
    ) async throws -> HTTPRequest {
        try await client.pipeline(endpoint, as: converter, with: settings).adaptedRequest(refreshing: refreshing)
    }

    /// The observers of the calls. They can be changed while the app runs.
    public var observers: RequestObservers { client.observers }
}

/// Calls of endpoints that declare the type of their result.
extension NetworkRequesting {
    /// Sends a request and returns the value of the response.
    ///
    /// - Throws: ``ServerFailure`` with the decoded error of the server, if the body of an error response can be read
    ///   as this error and the service maps errors. Otherwise, the same errors as every other call.
    @discardableResult
    public func request<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) async throws -> Call.ResponseValue {
        let (pipeline, converter) = client.pipeline(endpoint, with: settings)
        return try await pipeline.value(converter).0
    }

    /// Sends a request and returns the value together with the response.
    public func response<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) async throws -> Response<Call.ResponseValue> {
        let (pipeline, converter) = client.pipeline(endpoint, with: settings)
        let (value, outcome) = try await pipeline.value(converter)
        return Response(value, outcome)
    }

    /// Starts a call immediately, in a task of its own.
    public func task<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) -> RequestTask<Call.ResponseValue> {
        let (resolved, converter) = client.resolved(settings, with: endpoint)
        return RequestTask(endpoint, on: client, converter, with: resolved)
    }

    /// Returns the stored response for a call from the service's cache: see ``cachedResponse(_:as:with:)``.
    public func cachedResponse<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) -> Response<Call.ResponseValue>? {
        let (pipeline, converter) = client.pipeline(endpoint, with: settings)
        return cachedResponse(pipeline, converter)
    }

    /// Returns the stored response for a call, and then the response of the server: see
    /// ``cachedThenFresh(_:as:with:)``.
    public func cachedThenFresh<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) -> ResponseCache.CachedThenFresh<Call.ResponseValue> {
        cachedThenFresh(endpoint, as: client.resolved(settings, with: endpoint).1, with: settings)
    }
}

/// Overloads that cannot be called. They exist so that the message of the compiler shows what to write instead.
extension NetworkRequesting {
    /// Reports that a type is not a converter.
    @available(*, unavailable, message: "expected a converter, found a type: write `as: .json(MyType.self)`")
    @_disfavoredOverload
    public func request<Value>(
        _ endpoint: some Endpoint, as type: Value.Type, with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        throw NetworkError(.invalidRequest, reason: "expected a converter, found the type \(type)")
    }

    /// Reports that the type of the value cannot be decoded.
    @available(
        *, unavailable,
        message:
            "expected a Decodable and Sendable type; for a Response use `response(_:)`, for [String: Any] `.jsonObject`"
    )
    @_disfavoredOverload
    public func request<Value>(
        _ endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        throw NetworkError(.invalidRequest, reason: "\(Value.self) is not Decodable and Sendable")
    }
}

/// Methods that end several calls at once.
extension NetworkRequesting {
    /// Ends every call, and returns when all of them have returned: see ``NetworkClient/reset()``.
    public func reset() async {
        await client.reset()
    }

    /// Shuts down the client of the service and the clients that were derived from it: see
    /// ``NetworkClient/shutDown(draining:)``.
    public func shutDown(draining limit: Duration) async {
        await client.shutDown(draining: limit)
    }

    /// Cancels each call in progress if `shouldCancel` returns true for its endpoint: see
    /// ``NetworkClient/cancelAll(where:)``.
    @discardableResult
    public func cancelAll(where shouldCancel: (any Endpoint) -> Bool = { _ in true }) -> Int {
        client.cancelAll(where: shouldCancel)
    }
}
