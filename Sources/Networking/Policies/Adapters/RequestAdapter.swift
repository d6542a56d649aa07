/// A type that changes requests before they are sent: it adds a header field, a signature or a trace.
///
/// The adapters of a service run in the order of ``NetworkConfiguration/requestAdaptingService``, in the task of the
/// call, before each attempt. Each time, they receive the request as the endpoint describes it, so that a retry gets
/// current values. The adapter of the session, which adds the token, runs last. Redirects are not adapted again.
///
/// An adapter may change anything. A value that it sets replaces the value of the endpoint or of an earlier adapter; an
/// adapter for a default sets only what is absent. If an adapter throws an error, the attempt ends and the error goes
/// to the error handlers. An adapter that waits uses ``withCallCancellation(_:)``, so that the end of the call ends the
/// wait.
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
    /// Changes the request of an attempt.
    ///
    /// - Parameters:
    ///   - request: The request. ``HTTPRequest/allHeaders`` also contains the header fields of its body.
    ///   - endpoint: The endpoint of the call.
    /// - Throws: The reason why the request cannot be sent.
    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) async throws
}

/// An adapter that never waits. It also adapts the requests of ``NetworkRequesting/cachedResponse(_:as:with:)``, which
/// returns at once.
public protocol SynchronousRequestAdapter: RequestAdapter {
    /// Changes the request.
    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) throws
}
