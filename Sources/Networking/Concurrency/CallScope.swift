/// What may end the waits of one call from outside: its owner, its deadline, a reset.
///
/// Every ``Settlement`` that is waited for inside the call registers with ``current``, wherever the wait is (a queue, an engine, a
/// token), so that ending the scope ends them all at once. A call made inside another call registers as one such wait.
/// A deadline arms no timer until something waits.
final class CallScope: Endable {
    /// The scope of the call that the current task runs in.
    @TaskLocal static var current: CallScope?

    private enum State: Sendable {
        case open(waits: [any Endable], timer: ScheduledAction?)
        case ended(Interruption)
        case closed
    }

    let deadline: Deadline?
    private let state = Locked(State.open(waits: [], timer: nil))

    init(deadline: Deadline? = nil) {
        self.deadline = deadline
    }

    /// Whether the call has to end because it was cancelled.
    var isCancelled: Bool {
        state.withLock { state in
            if case .ended(.cancelled) = state { true } else { false }
        }
    }

    /// Why the call has to end, if it has to: asked from the call's own task.
    var interruption: Interruption? {
        noticeEnd()
        return state.withLock { state in
            if case .ended(let interruption) = state { interruption } else { nil }
        }
    }

    /// Ends every wait of the call.
    ///
    /// - Returns: Whether this made the call end: false where it had ended or was answered before.
    @discardableResult
    func end(_ interruption: Interruption) -> Bool {
        let opened: (waits: [any Endable], timer: ScheduledAction?)? = state.withLock { state in
            guard case .open(let waits, let timer) = state else { return nil }
            state = .ended(interruption)
            return (waits, timer)
        }
        guard let opened else { return false }
        opened.timer?.cancel()
        for wait in opened.waits { wait.end(with: interruption) }
        return true
    }

    func end(with interruption: Interruption) {
        end(interruption)
    }

    /// The call has its answer; from now on the scope ends nothing.
    ///
    /// - Returns: The interruption that came before, in which case the answer must not be given.
    func close() -> Interruption? {
        noticeEnd()
        let (interruption, timer): (Interruption?, ScheduledAction?) = state.withLock { state in
            switch state {
            case .open(_, let timer):
                state = .closed
                return (nil, timer)
            case .ended(let interruption):
                return (interruption, nil)
            case .closed:
                return (nil, nil)
            }
        }
        timer?.cancel()
        return interruption
    }

    /// Registers a wait; it is ended at once where the scope has ended.
    func add(_ wait: any Endable) {
        let (interruption, isFirst): (Interruption?, Bool) = state.withLock { state in
            switch state {
            case .open(var waits, let timer):
                waits.append(wait)
                state = .open(waits: waits, timer: timer)
                return (nil, timer == nil)
            case .ended(let interruption):
                return (interruption, false)
            case .closed:
                return (nil, false)
            }
        }
        if let interruption { wait.end(with: interruption) }
        if isFirst, let deadline { arm(deadline) }
    }

    func remove(_ wait: any Endable) {
        state.withLock { state in
            guard case .open(var waits, let timer) = state else { return }
            waits.removeAll { $0 === wait }
            state = .open(waits: waits, timer: timer)
        }
    }

    /// Sees what nobody had to wait for.
    private func noticeEnd() {
        if Task.isCancelled { end(.cancelled) }
        if let deadline, deadline.hasPassed { end(.deadlineExceeded) }
    }

    private func arm(_ deadline: Deadline) {
        let timer = deadline.clock.schedule(at: deadline.instant) { [weak self] in _ = self?.end(.deadlineExceeded) }
        let isKept = state.withLock { state in
            guard case .open(let waits, nil) = state else { return false }
            state = .open(waits: waits, timer: timer)
            return true
        }
        if !isKept { timer.cancel() }
    }
}
