/// A part of a service that a reset empties: a transport, an adapter, a policy or a handler that remembers something.
///
/// `Transport`, `RequestAdapter`, `AdmissionPolicy` and `ErrorHandler` are such parts; write ``reset()`` in yours if it
/// remembers something. A decorator calls that of the transport that it wraps.
public protocol ResetParticipant: Sendable {
    /// Forgets. Default: does nothing.
    ///
    /// It is called once a reset, after every call that the reset has ended has returned; calls that have begun since
    /// may be in progress. A reset of the same service that is made here returns as soon as the calls have returned.
    func reset() async
}

extension ResetParticipant {
    /// Does nothing.
    public func reset() async {}
}
