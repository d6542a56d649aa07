public import Foundation

/// The client that sends the requests of a service. ``NetworkConfiguration`` describes its parts.
///
/// ``NetworkService`` creates its own client. Create a client for a struct or an actor that adopts
/// ``NetworkRequesting``.
public final class NetworkClient: Sendable {
    /// The configuration from which the client was created.
    public let configuration: NetworkConfiguration
    /// The observers of the calls. They can be changed while the app runs.
    public let observers: RequestObservers
    /// The session that adds tokens. Nil if requests carry no token.
    let session: AccessTokenSupervisor?
    /// If the policies, adapters and handlers belong to two sessions, the error with which every call ends. Otherwise
    /// nil.
    private let sessionError: NetworkError?
    /// Returns true if the handler of the session is the first error handler that can decide.
    private let startsRefresh: @Sendable () -> Bool
    let admission: Admission
    let requestAdaptingService: RequestAdaptingService
    let errorHandlingService: ErrorHandlingService
    let transport: TransportChain
    /// The settings of the service. Settings that the configuration does not set have their standard values.
    let settings: RequestSettings
    /// The calls in progress.
    let calls = RunningCalls()
    private let sharedEnvironment: CopyOnWrite<NetworkEnvironment>
    /// The rules of the calls that have no settings of their own.
    let rules: CallRules

    var clock: NetworkClock { configuration.clock }

    /// The number of calls in progress.
    package var runningCallCount: Int { calls.count }

    /// Creates a client from a configuration.
    public init(configuration: NetworkConfiguration) {
        self.configuration = configuration
        observers = RequestObservers(configuration.observers)
        (session, sessionError) = configuration.soleSession()
        admission = Admission(configuration.policies(session))
        requestAdaptingService = configuration.adapting(session)
        let errorHandlingService = configuration.handling()
        self.errorHandlingService = errorHandlingService
        startsRefresh = { errorHandlingService.isFirst { $0 is UnauthorizedErrorHandler } }
        transport = configuration.sending()
        settings = configuration.settings.over(.standard)
        sharedEnvironment = CopyOnWrite(configuration.environment)
        rules = CallRules(settings, of: configuration, refusal: session?.refusal)
    }

    /// Creates a client: see ``NetworkService/init(environment:authorizedBy:configure:)``.
    public convenience init(
        environment: NetworkEnvironment = NetworkEnvironment(), authorizedBy session: AccessTokenSupervisor? = nil,
        configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) {
        var configuration = NetworkConfiguration(environment: environment)
        configuration.session = session
        configure(&configuration)
        self.init(configuration: configuration)
    }

    /// Returns a client with some parts changed. The two clients share the other parts: their limit, cookie jar,
    /// session and so on are the same objects.
    ///
    /// ```swift
    /// let media = NetworkService(client: profiles.client.with { $0.environment = NetworkEnvironment(baseURL: cdn) })
    /// ```
    ///
    /// The new client has its own calls and its own list of observers: a reset of one client ends no call of the other
    /// client. If the clock is changed, the new client also has its own back-off gate, unless the configuration sets a
    /// gate.
    public func with(_ change: (inout NetworkConfiguration) -> Void) -> NetworkClient {
        var configuration = configuration
        change(&configuration)
        let client = NetworkClient(configuration: configuration)
        calls.add(derived: client.calls)
        return client
    }

    /// Ends every call of the service with ``NetworkError/Kind/resetting``, except the calls inside which this method
    /// is called. Returns after the ended calls have returned, their tasks have settled, and every ``ResetParticipant``
    /// has been reset. Calls that start later are sent as usual. A token refresh and its calls continue. A reset that
    /// begins during another reset resets the participants again.
    public func reset() async {
        await calls.reset([transport] + configuration.resetParticipants)
    }

    /// Shuts down this client and the clients that were derived from it, for example before a server process exits.
    ///
    /// New calls fail with ``NetworkError/Kind/transportShutDown``, and event streams end with this error at once. The
    /// method waits for the other calls, including their retries, their refreshes and the calls that they make. It does
    /// not end the calls inside which it is called. The transport is not shut down, because other clients may use it:
    /// see `CurlTransport.shutDown(draining:)`.
    ///
    /// - Parameter limit: The longest time to wait. Calls that are still in progress after this time are ended with the
    ///   same error. If the current task is cancelled, the wait and these calls end, too.
    public func shutDown(draining limit: Duration) async {
        await calls.shutDown(draining: limit, on: clock)
    }

    /// Cancels each call in progress if `shouldCancel` returns true for its endpoint. Default: cancels all calls.
    ///
    /// - Returns: The number of calls that this invocation cancelled.
    @discardableResult
    public func cancelAll(where shouldCancel: (any Endpoint) -> Bool = { _ in true }) -> Int {
        calls.cancel(where: shouldCancel)
    }

    /// Returns the pipeline that runs one call.
    func pipeline<Value: Sendable>(
        _ endpoint: any Endpoint, as converter: ResponseConverter<Value>, with settings: RequestSettings,
        inSession session: Int? = nil
    ) -> RequestPipeline {
        RequestPipeline(
            endpoint, on: self, for: converter.requirements, with: resolved(settings, for: endpoint),
            inSession: session)
    }

    /// The number of the current session; nil if the client has none.
    var sessionNumber: Int? { session?.sessionNumber }

    /// The environment of a call.
    func environment(of settings: RequestSettings) -> CopyOnWrite<NetworkEnvironment> {
        settings.sharedEnvironment ?? sharedEnvironment
    }

    /// Creates the request of an endpoint, and attaches the session to the request.
    ///
    /// - Parameter number: The number of the session in which the call began.
    func makeRequest(
        _ endpoint: any Endpoint, _ method: HTTPMethod, _ settings: RequestSettings, inSession number: Int?
    ) throws -> HTTPRequest {
        var request = try EndpointRequest(endpoint: endpoint, method: method, environment: environment(of: settings))
            .make(settings, random: configuration.random)
        if let sessionError { throw sessionError }
        session?.beginCall(with: &request, of: endpoint, inSession: number, isFirst: startsRefresh)
        return request
    }

    /// Returns the pipeline that runs one call of a typed endpoint, and the endpoint's converter.
    func pipeline<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings
    ) -> (RequestPipeline, ResponseConverter<Call.ResponseValue>) {
        let (resolved, converter) = resolved(settings, with: endpoint)
        return (RequestPipeline(endpoint, on: self, for: converter.requirements, with: resolved), converter)
    }

    /// Returns the settings of one call of a typed endpoint, and the endpoint's converter.
    func resolved<Call: TypedEndpoint>(
        _ settings: RequestSettings, with endpoint: Call
    ) -> (RequestSettings, ResponseConverter<Call.ResponseValue>) {
        let resolved = resolved(settings, for: endpoint)
        return (resolved, endpoint.converter(decoder: resolved.bodyDecoder))
    }

    /// Returns the request of an endpoint. Runs only the synchronous adapters.
    package func adaptedRequestNow(of endpoint: any Endpoint) throws -> HTTPRequest {
        try pipeline(endpoint, as: .void, with: RequestSettings()).adaptedRequestNow()
    }

    /// Prepares a request that a handler returned, for a call whose own request could not be created.
    func beginning(
        with request: HTTPRequest, of endpoint: any Endpoint, _ settings: RequestSettings, inSession number: Int?
    ) -> HTTPRequest {
        let home = try? environment(of: settings).value.address?.get().origin
        var request = request.beginning(as: settings.authorizationType, from: home)
        session?.beginCall(with: &request, of: endpoint, inSession: number, isFirst: startsRefresh)
        return request
    }

    func withCookies(_ request: HTTPRequest) -> HTTPRequest {
        guard let cookies = configuration.cookies else { return request }
        return cookies.addingCookies(to: request)
    }

    /// Returns the settings of one call. A value of the call overrides the value of the endpoint, which overrides the
    /// value of the service.
    func resolved(_ settings: RequestSettings, for endpoint: any Endpoint) -> RequestSettings {
        var resolved = settings
        resolved.complete(with: RequestSettings(of: endpoint))
        resolved.complete(with: self.settings)
        return resolved
    }
}

/// The default transport of the platform.
public enum PlatformTransport {
    /// The transport of services that set no transport. The whole process shares it. It is ``URLSessionTransport`` on
    /// Apple platforms and `CurlTransport` on Linux. If libcurl is missing on Linux, or is older than 7.68, the
    /// transport is ``URLSessionTransport`` there, too. The library then writes one line about this to standard error.
    public static let shared: any Transport = {
        #if os(Linux)
            choose(CurlTransport.shared)
        #else
            URLSessionTransport.shared
        #endif
    }()

    #if os(Linux)
        /// Returns the libcurl transport if libcurl is available, otherwise the URLSession transport.
        ///
        /// - Parameter log: Reports to the operator that URLSession sends the requests. Default: writes to standard
        ///   error.
        static func choose(
            _ curl: CurlTransport?,
            log: (String) -> Void = OperatorLog.write
        ) -> any Transport {
            if let curl { return curl }
            var reason = "libcurl cannot be used"
            if case .failure(let fault) = CurlLibrary.loaded { reason = fault.rawValue }
            log("URLSession sends the requests, with its limits on Linux, because \(reason).")
            return URLSessionTransport.shared
        }
    #endif
}

extension ReachabilityService.HTTPProbe {
    /// Creates a probe that uses the default transport of the platform.
    ///
    /// - Parameters:
    ///   - url: The URL to request, with GET.
    ///   - expected: The status that only the right server returns. Default: 204.
    ///   - timeout: The timeout for connecting, and also the idle timeout. Default: 5 seconds.
    public init(url: URL, expecting expected: HTTPStatus = .noContent, timeout: Duration = .seconds(5)) {
        self.init(url: url, expecting: expected, timeout: timeout, transport: PlatformTransport.shared)
    }
}
