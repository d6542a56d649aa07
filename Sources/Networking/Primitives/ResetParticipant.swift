/// A part of a service whose state is cleared by a reset of the service.
///
/// ``Transport``, ``RequestAdapter``, ``AdmissionPolicy`` and ``ErrorHandler`` inherit from this protocol. Implement
/// ``reset()`` if your part has a state, such as a queue or a counter. A transport that wraps another one calls the
/// `reset()` of that transport.
///
/// ## When it is called
///
/// ``NetworkClient/reset()`` ends all calls, waits until they have returned, and then calls `reset()` of each part
/// once. Calls that have begun in the meantime may be in progress. If `reset()` resets the same service again, that
/// reset returns as soon as the calls have returned.
///
/// The method is called on any thread. The reset of the service waits for it.
///
/// ## Example
///
/// ```swift
/// /// Counts the requests of the current user; a reset starts with the next user.
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
    /// The service calls this method during a reset, after all calls that the reset ended have returned. Calls
    /// that have begun in the meantime may be in progress. If this method resets the same service again, that reset
    /// returns as soon as the calls have returned.
    func reset() async
}

extension ResetParticipant {
    // Not asynchronous: asynchronous code would prefer an asynchronous default to a type's own method that is not.
    /// Does nothing.
    public func reset() {}
}
