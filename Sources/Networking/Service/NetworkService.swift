/// The base class of a service. Write one subclass for each part of a backend, with one method for each call.
///
/// ```swift
/// final class ProfileService: NetworkService, @unchecked Sendable {
///     func profile(_ id: Int) async throws -> Profile { try await request(ProfileEndpoint.fetch(id: id)) }
/// }
///
/// let profiles = ProfileService(environment: NetworkEnvironment(baseURL: api), authorizedBy: session)
/// ```
///
/// The methods that send requests are declared in ``NetworkRequesting``. A subclass repeats `@unchecked Sendable`,
/// which is safe if the stored properties of the subclass are immutable or protected by a lock. In a module whose
/// default isolation is the main actor, mark the subclass `nonisolated`. For a struct or an actor that adopts
/// ``NetworkRequesting``, the compiler checks the conformance to `Sendable`. A call continues when its service is
/// released.
open class NetworkService: NetworkRequesting, @unchecked Sendable {  // because its only stored property is a `let`
    /// The client that sends the requests of the service.
    public final let client: NetworkClient

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - environment: The server. Without a base URL here, every endpoint needs a base URL of its own.
    ///   - session: Adds tokens to the requests that need authorization. Services that share a session also share its
    ///     token refresh. Default: nil.
    ///   - configure: Changes the properties of the configuration that have a default: see ``NetworkConfiguration``.
    public init(
        environment: NetworkEnvironment = NetworkEnvironment(), authorizedBy session: AccessTokenSupervisor? = nil,
        configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) {
        client = NetworkClient(environment: environment, authorizedBy: session, configure: configure)
    }

    /// Creates a service from a configuration. Services that are created from the same configuration share the objects
    /// in it.
    public init(configuration: NetworkConfiguration) {
        client = NetworkClient(configuration: configuration)
    }

    /// Creates a service with a chain of request adapters and a chain of error handlers. The other parts have their
    /// defaults.
    ///
    /// ```swift
    /// let profiles = ProfileService(
    ///     environment: NetworkEnvironment(baseURL: api),
    ///     requestAdaptingService: RequestAdaptingService([
    ///         HeadersAdapter(["X-Client": "app"]),
    ///         TokenRequestAdapter(accessTokenSupervisor: session),
    ///     ]),
    ///     errorHandlingService: ErrorHandlingService([
    ///         UnauthorizedErrorHandler(accessTokenSupervisor: session),
    ///         GeneralErrorHandler(),
    ///     ]))
    /// ```
    ///
    /// - Parameters:
    ///   - environment: The server. Without a base URL here, every endpoint needs a base URL of its own.
    ///   - requestAdaptingService: The adapters, which change each request before it is sent.
    ///   - errorHandlingService: The handlers, which decide what happens after a failure. Default: none;
    ///     ``GeneralErrorHandler`` maps the error in any case.
    ///   - configure: Changes the other properties of the configuration, such as the transport.
    public init(
        environment: NetworkEnvironment = NetworkEnvironment(), requestAdaptingService: RequestAdaptingService,
        errorHandlingService: ErrorHandlingService = ErrorHandlingService(),
        configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) {
        client = NetworkClient(environment: environment) {
            $0.requestAdaptingService = requestAdaptingService
            $0.errorHandlingService = errorHandlingService
            configure(&$0)
        }
    }

    /// Creates a service with a chain of error handlers, and without adapters. The other parts have their defaults.
    public init(
        environment: NetworkEnvironment = NetworkEnvironment(), errorHandlingService: ErrorHandlingService,
        configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) {
        client = NetworkClient(environment: environment) {
            $0.errorHandlingService = errorHandlingService
            configure(&$0)
        }
    }

    /// Creates a service that uses a client. Other services may use the same client.
    public init(client: NetworkClient) {
        self.client = client
    }
}
