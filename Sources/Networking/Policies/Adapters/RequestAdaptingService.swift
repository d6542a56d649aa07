/// The adapters of a service, in order.
public struct RequestAdaptingService: Sendable {
    /// The adapters, in the order in which they run.
    public let adapters: [any RequestAdapter]

    /// Creates a service from adapters. Without adapters, requests are sent as their endpoints describe them.
    public init(_ adapters: [any RequestAdapter] = []) {
        self.adapters = adapters
    }

    /// Runs every adapter on the request.
    ///
    /// - Throws: The error of the first adapter that fails. If the call ends meanwhile, no further adapter runs.
    package func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) async throws {
        for adapter in adapters {
            try await adapter.adapt(&request, for: endpoint)
            try CallScope.check()
        }
    }

    /// Runs the adapters that never wait.
    func adaptNow(_ request: inout HTTPRequest, for endpoint: any Endpoint) throws {
        for case let adapter as any SynchronousRequestAdapter in adapters { try adapter.adapt(&request, for: endpoint) }
    }
}
