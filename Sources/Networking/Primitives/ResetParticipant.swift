/// A part of a service that a reset of the service resets, too.
///
/// `Transport`, `RequestAdapter`, `AdmissionPolicy` and `ErrorHandler` inherit from it. Implement ``reset()`` if your
/// part has a state, such as a queue or a counter. A transport that wraps another one calls the `reset()` of that
/// one.
public protocol ResetParticipant: Sendable {
    /// Returns to the initial state. Default: does nothing.
    ///
    /// It is called once for each reset, when all calls that the reset has ended have returned. Calls that have begun
    /// since may be in progress. If it resets the same service, that returns as soon as the calls have returned.
    func reset() async
}

extension ResetParticipant {
    /// Does nothing.
    public func reset() async {}
}
