/// One backend domain: write a subclass for each, with a method a call.
///
/// ```swift
/// final class ProfileService: NetworkService, @unchecked Sendable {
///     func profile(_ id: Int) async throws -> Profile { try await request(ProfileEndpoint.fetch(id: id)) }
/// }
///
/// let profiles = ProfileService(environment: NetworkEnvironment(baseURL: api), authorizedBy: session)
/// ```
///
/// Every call is in ``NetworkRequesting``. A subclass restates `@unchecked Sendable`, and is safe as long as what it
/// stores is immutable or locked; in a module whose default isolation is the main actor, mark it `nonisolated`. A
/// struct or an actor that adopts ``NetworkRequesting`` is checked by the compiler in full. A call continues when its
/// service is released.
open class NetworkService: NetworkRequesting, @unchecked Sendable {  // because it stores one `let`
    /// The parts that the service's requests pass through.
    public final let client: NetworkClient

    /// Makes a service.
    ///
    /// - Parameters:
    ///   - environment: The server. Without one every endpoint needs a base URL of its own.
    ///   - session: Adds tokens to the requests that are authorized. Services that share it share its refresh. Default:
    ///     nil.
    ///   - configure: Changes what has a default: see ``NetworkConfiguration``.
    public init(
        environment: NetworkEnvironment = NetworkEnvironment(), authorizedBy session: AccessTokenSupervisor? = nil,
        configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) {
        client = NetworkClient(environment: environment, authorizedBy: session, configure: configure)
    }

    /// Makes a service of a configuration. Services of one configuration share its objects.
    public init(configuration: NetworkConfiguration) {
        client = NetworkClient(configuration: configuration)
    }

    /// Makes a service with the two chains of its requests and failures. The other parts have their defaults.
    public init(
        environment: NetworkEnvironment, requestAdaptingService: RequestAdaptingService,
        errorHandlingService: ErrorHandlingService
    ) {
        var configuration = NetworkConfiguration(environment: environment)
        configuration.requestAdaptingService = requestAdaptingService
        configuration.errorHandlingService = errorHandlingService
        client = NetworkClient(configuration: configuration)
    }

    /// Makes a service of a client, which other services may use as well.
    public init(client: NetworkClient) {
        self.client = client
    }
}
