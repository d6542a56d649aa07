/// A part of a service whose state is cleared by a reset of the service.
///
/// ``Transport``, ``RequestAdapter``, ``AdmissionPolicy`` and ``ErrorHandler`` inherit from this protocol. Implement
/// ``reset()`` if your part has a state, such as a queue or a counter. A transport that wraps another transport calls
/// the `reset()` of that transport.
///
/// ## When it is called
///
/// ``NetworkClient/reset()`` ends all calls, waits until they have returned, and then calls `reset()` of each part
/// once. Calls that began during the reset may be in progress. If your `reset()` resets the same service again, the
/// inner reset waits only until all calls have returned.
///
/// The method may be called on any thread. The reset of the service waits until the method has returned.
///
/// ## Example
///
/// ```swift
/// /// Counts the requests of the current user. A reset starts the count of the next user.
/// actor RequestCounter: RequestAdapter {
///     private var count = 0
///
///     func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) async {
///         count += 1
///         request.headers["X-Request-Number"] = "\(count)"
///     }
///
///     func reset() { count = 0 }
/// }
/// ```
public protocol ResetParticipant: Sendable {
    /// Returns to the initial state. Default: does nothing.
    ///
    /// The service calls this method during a reset. By then, all calls that the reset ended have returned. Calls that
    /// began during the reset may be in progress. If this method resets the same service again, the inner reset waits
    /// only until all calls have returned.
    func reset() async
}

extension ResetParticipant {
    // This default is synchronous. In asynchronous code, the compiler would prefer an asynchronous default to a
    // synchronous `reset()` of the type.
    /// Does nothing.
    public func reset() {}
}
