/// An adapter that consists of a closure.
///
/// ```swift
/// $0.requestAdaptingService = RequestAdaptingService([
///     HeadersAdapter(["X-Client": "ios"]),
///     AdHocAdapter { request, _ in request.headers["X-Attempt"] = "\(request.attempt)" },
/// ])
/// ```
public struct AdHocAdapter: RequestAdapter {
    private let change: @Sendable (inout HTTPRequest, any Endpoint) async throws -> Void
    /// This adapter as a synchronous adapter; nil if its closure may wait.
    let synchronous: (any SynchronousRequestAdapter)?

    /// Creates an adapter from a closure that never waits. The closure is also called for
    /// ``NetworkRequesting/cachedResponse(_:as:with:)``.
    public init(_ change: @escaping @Sendable (inout HTTPRequest, any Endpoint) throws -> Void) {
        self.change = change
        synchronous = Synchronous(change: change)
    }

    /// Creates an adapter from a closure that may wait.
    public init(_ change: @escaping @Sendable (inout HTTPRequest, any Endpoint) async throws -> Void) {
        self.change = change
        synchronous = nil
    }

    /// Calls the closure with the request.
    public func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) async throws {
        try await change(&request, endpoint)
    }

    private struct Synchronous: SynchronousRequestAdapter {
        let change: @Sendable (inout HTTPRequest, any Endpoint) throws -> Void

        func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) throws { try change(&request, endpoint) }
    }
}

/// The adapters of one call. Only the code in the folder `Adapters` changes this part of a request.
struct AdapterOrder: HTTPRequest.Order {
    /// Nil means that the next level of the settings determines the adapters: the endpoint, then the service.
    fileprivate(set) var adapters: [any RequestAdapter]?

    var outsideOrigin: AdapterOrder? { self }
    /// A request that does not belong to the call is not adapted again.
    var outsideCall: AdapterOrder? { nil }
    /// Empty, because the request itself contains the changes of the adapters.
    var identity: [String] { [] }

    func over(_ base: AdapterOrder) -> AdapterOrder { AdapterOrder(adapters: adapters ?? base.adapters) }
}

extension RequestSettings {
    /// The adapters of the call. They run after the adapters of ``NetworkConfiguration/requestAdaptingService`` and of
    /// the session, so they see the token. They do not participate in a reset. Default: none.
    public var adapters: [any RequestAdapter]? {
        get { orders[order: AdapterOrder.self].adapters }
        set { orders[order: AdapterOrder.self].adapters = newValue }
    }
}
