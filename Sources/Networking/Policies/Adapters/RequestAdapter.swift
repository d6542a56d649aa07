/// Dresses a request for the road: adds what the endpoint does not know.
///
/// Adapters run in the order of their service, before the first attempt and again before every retry, each time on the original
/// request. They may change anything; a value set later replaces one set earlier. An adapter that supplies a default fills
/// only what is absent. What it throws ends the attempt and goes to the error handlers. Where it waits for something of its own, it does so by
/// ``untilCallEnds(_:)``.
///
/// ```swift
/// struct TenantAdapter: RequestAdapter {
///     let tenant: String
///
///     func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
///         request.headers["X-Tenant"] = tenant
///     }
/// }
/// ```
public protocol RequestAdapter: ResetParticipant {
    /// Changes the request.
    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) async throws
}

/// An adapter that never waits. It is one like the others; besides, it dresses the requests of reads that are answered at once, such as
/// those from a service's cache.
public protocol SynchronousRequestAdapter: RequestAdapter {
    /// Changes the request.
    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) throws
}

/// A request adapter made of a closure.
///
/// ```swift
/// let locale = ClosureAdapter { request, _ in request.headers[.acceptLanguage] = Locale.current.identifier }
/// ```
public struct ClosureAdapter: RequestAdapter {
    private let change: @Sendable (inout HTTPRequest, any Endpoint) async throws -> Void

    /// Makes an adapter of a closure.
    public init(_ change: @escaping @Sendable (inout HTTPRequest, any Endpoint) async throws -> Void) {
        self.change = change
    }

    /// Calls the closure.
    public func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) async throws {
        try await change(&request, endpoint)
    }
}
