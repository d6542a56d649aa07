/// Something of a service that has its own part in a reset: a transport, an adapter, a policy or a handler that remembers something.
///
/// Adopt it beside `Transport` and its like. A decorator hands the reset on to the transport that it wraps, where that takes part.
public protocol ResetParticipant: Sendable {
    /// Forgets. Is called once a reset, when every call has returned and no new one has begun.
    func reset() async
}

extension ResponseCache: ResetParticipant {
    /// Forgets every answer.
    public func reset() {
        removeAll()
    }
}
