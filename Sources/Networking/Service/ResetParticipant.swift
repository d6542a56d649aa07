/// Something of a service that has its own part in a reset: a transport, an adapter, a policy or a handler that
/// remembers something.
///
/// Adopt it beside `Transport` and its like. A decorator hands the reset on to the transport that it wraps, where that
/// takes part.
public protocol ResetParticipant: Sendable {
    /// Forgets. It is called once a reset, when every call that the reset has ended has returned; calls that began
    /// since may be under way. A reset of the same service that is made here returns when the calls have returned.
    func reset() async
}

extension ResponseCache: ResetParticipant {
    /// Forgets every answer.
    public func reset() {
        removeAll()
    }
}
