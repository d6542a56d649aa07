/// An object that runs checks repeatedly until it is cancelled.
final class ReachabilityPoller: Sendable {
    private struct State: Sendable {
        /// The pause between two checks. Settled when the pause is over.
        var pause: Settlement<Void>?
        /// Whether a check was requested after the last check began.
        var isCheckRequested = false
    }

    private let state = Locked(State())
    private let task = Locked<Task<Void, Never>?>(nil)

    init(_ checker: ReachabilityChecker, interval: Duration, whileDown: Duration, clock: NetworkClock) {
        let state = state
        let polling = Task.detached {
            while !Task.isCancelled {
                state.withLock { $0.isCheckRequested = false }
                guard let found = try? await checker.look() else { return }
                let pause = Settlement<Void>()
                let isCheckRequested = state.withLock { state in
                    state.pause = pause
                    return state.isCheckRequested
                }
                if isCheckRequested { continue }
                let timer = clock.schedule(at: clock.now() + (found.isReachable ? interval : whileDown)) {
                    pause.settle(.success(()))
                }
                defer { timer.cancel() }
                do { try await pause.value() } catch { return }
            }
        }
        task.withLock { $0 = polling }
    }

    /// Starts the next check at once.
    func checkNow() {
        let pause = state.withLock { state in
            state.isCheckRequested = true
            return state.pause
        }
        pause?.settle(.success(()))
    }

    func cancel() {
        task.withLock { $0 }?.cancel()
    }
}
