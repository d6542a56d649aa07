/// The handle with which a client can end an event stream or a WebSocket at any time, even while the stream or socket
/// waits.
final class StreamPresence: Sendable {
    private struct State: Sendable {
        var isEnded = false
        /// The scope of the call that connects. Before this call begins, the scope of the wait for it.
        var call: CallScope?
    }

    private let calls: RunningCalls
    private let state = Locked(State())
    /// The scope in which the body of the current connection is read.
    private let reading = CallScope()
    private let whenEnded: @Sendable () -> Void

    /// - Parameter whenEnded: Called when the client ends the stream.
    init(in calls: RunningCalls, whenEnded: @escaping @Sendable () -> Void = {}) {
        self.calls = calls
        self.whenEnded = whenEnded
        calls.enter(self)
    }

    deinit { calls.leave(ObjectIdentifier(self)) }

    /// Ends the stream. The reader of the stream receives an error.
    func end() {
        let call = state.withLock { state in
            state.isEnded = true
            return state.call
        }
        call?.interrupt(.shutDown)
        reading.interrupt(.shutDown)
        whenEnded()
    }

    /// Notes the call that the stream makes next.
    func begin(_ call: CallScope) {
        let isEnded = state.withLock { state in
            state.call = call
            return state.isEnded
        }
        if isEnded { call.interrupt(.shutDown) }
    }

    /// Returns the body of a connection. The waits of this body end when the stream ends.
    func body(_ body: IncomingBody) -> IncomingBody {
        body.pulled { [reading] pull in
            let outer = CallScope.current
            outer?.add(reading)
            defer { outer?.remove(reading) }
            return try await CallScope.Position.$current.withValue(.inside(reading)) { try await pull() }
        }
    }
}
