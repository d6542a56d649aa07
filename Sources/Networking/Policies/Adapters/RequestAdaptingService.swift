/// The adapters of a service, in order.
public struct RequestAdaptingService: Sendable {
    /// The adapters, in the order in which they run.
    public let adapters: [any RequestAdapter]
    /// For each adapter: the same adapter if it never waits, otherwise nil.
    private let synchronous: [(any SynchronousRequestAdapter)?]
    /// For each adapter: whether it only changes header fields.
    private let changesOnlyFields: [Bool]

    /// Creates a service from adapters. Without adapters, requests are sent as their endpoints describe them.
    public init(_ adapters: [any RequestAdapter] = []) {
        self.adapters = adapters
        synchronous = adapters.map { $0 as? any SynchronousRequestAdapter }
        changesOnlyFields = adapters.map { $0 is any FieldAdapter }
    }

    /// Runs every adapter on the request.
    ///
    /// - Throws: The error of the first adapter that fails. If the call ends while an adapter waits, no further adapter
    ///   runs.
    package func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) async throws {
        for index in adapters.indices {
            if let adapter = synchronous[index] {
                try adapter.adaptNow(&request, for: endpoint, changesOnlyFields[index])
            } else {
                let before = request
                try await adapters[index].adapt(&request, for: endpoint)
                request = request.adapted(from: before)
                try CallScope.check()
            }
        }
    }

    /// Runs the adapters that never wait, and skips the other adapters.
    func adaptNow(_ request: inout HTTPRequest, for endpoint: any Endpoint) throws {
        for index in adapters.indices {
            try synchronous[index]?.adaptNow(&request, for: endpoint, changesOnlyFields[index])
        }
    }
}

extension SynchronousRequestAdapter {
    /// Changes the request. In asynchronous code, the name `adapt` means the asynchronous method, so this method has
    /// another name.
    fileprivate func adaptNow(
        _ request: inout HTTPRequest, for endpoint: any Endpoint, _ changesOnlyFields: Bool
    ) throws {
        guard !changesOnlyFields else { return try adapt(&request, for: endpoint) }
        let before = request
        try adapt(&request, for: endpoint)
        request = request.adapted(from: before)
    }
}
