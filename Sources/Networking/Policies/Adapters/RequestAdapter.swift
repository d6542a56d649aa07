/// Changes requests before they are sent: adds a header field, a signature, a trace.
///
/// The adapters of a service run in the order of ``NetworkConfiguration/requestAdaptingService``, in the task of the
/// call, before each attempt, and each time on the request as the endpoint describes it: so a retry gets current
/// values. The adapter of the session, which adds the token, is the last one. Redirects are not adapted again.
///
/// An adapter may change anything. A value that it sets replaces that of the endpoint or an earlier adapter; an
/// adapter for a default sets only what is absent. An error ends the attempt and goes to the error handlers. An
/// adapter that waits uses ``withCallCancellation(_:)``, so that the end of the call ends the wait.
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
    ///   - request: The request; ``HTTPRequest/allHeaders`` has the fields of its body, too.
    ///   - endpoint: The call that it belongs to.
    /// - Throws: Why the request cannot be sent.
    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) async throws
}

/// An adapter that never waits. It also adapts the requests of ``NetworkRequesting/cachedResponse(_:as:with:)``, which returns
/// at once.
public protocol SynchronousRequestAdapter: RequestAdapter {
    /// Changes the request.
    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) throws
}
