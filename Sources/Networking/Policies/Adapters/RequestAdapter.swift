/// Changes requests before they are sent: adds a header field, a signature or a trace context.
///
/// Set adapters with ``NetworkConfiguration/requestAdaptingService``.
///
/// ## When it is called
///
/// The pipeline calls the adapters in order before each attempt, after admission. Each time they start from the request
/// that the endpoint describes, so a retry gets current values. The adapter of the session, which adds the token, is the
/// last one. Adapters are not called for redirects.
///
/// The method runs in the task of the call, on any thread. Calls run at the same time, so the method is called
/// concurrently.
///
/// ## What it may do
///
/// An adapter may change everything about the request. A value that it sets replaces the value of the endpoint or of an
/// earlier adapter; an adapter for a default sets only what is absent. It may call other endpoints of the same service:
/// such a call needs no permit. To wait for something, use ``withCallCancellation(_:)``, so that the end of the call ends
/// the wait.
///
/// ## Errors
///
/// An error ends the attempt before anything is sent, and goes to the error handlers.
///
/// ## Example
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
