/// The adapters of a service, in order.
public struct RequestAdaptingService: Sendable {
    /// The adapters, the first one first.
    public let adapters: [any RequestAdapter]

    /// Makes a service of adapters; none leaves requests as their endpoints make them.
    public init(_ adapters: [any RequestAdapter] = []) {
        self.adapters = adapters
    }

    /// Runs every adapter on the request.
    ///
    /// - Throws: What the first adapter throws that does. A call that is ended meanwhile runs no further adapter.
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
