import Foundation

/// The cancellation scope of one call. The caller, the deadline and a reset use the scope to end all waits of the call.
///
/// A call may wait for a ``Settlement`` in any part of the library: a queue, an engine, a token. Each of these
/// settlements registers itself with ``current``. An interruption of the scope therefore ends all waits at once. The
/// scope of an inner call is registered as one wait of the outer scope. The timer of a deadline starts when the first
/// wait is registered.
package final class CallScope: Endable {
    private enum Phase: Equatable, Sendable {
        case open
        case ended(Interruption)
        case closed

        var interruption: Interruption? { if case .ended(let interruption) = self { interruption } else { nil } }
    }

    private struct State: Sendable {
        var phase = Phase.open
        var waits = Few<any Endable>()
        var timer: ScheduledAction?
        /// The admission of the attempt that is in progress.
        var admission: (any CallAdmission)?
        /// Whether the call has returned.
        var isOver = false
        /// The identifier of the call. It is created at its first use.
        var id: UUID?

        /// Changes the phase from `open` to `next`. Returns the old state, so that the caller can release the waits and
        /// the timer of this state. Returns nil if the phase is not `open`.
        mutating func leaveOpen(for next: Phase) -> State? {
            guard phase == .open else { return nil }
            let opened = self
            self = State(phase: next, admission: admission, isOver: isOver, id: id)
            return opened
        }
    }

    let deadline: Deadline?
    /// The call in which this call was made.
    let parent: CallScope?
    /// The token refresh in which this call was made.
    let refresh: RefreshMark?
    /// Whether the call was made under the permit of another call. That call may wait for this call, so this call must
    /// not wait for a second permit.
    let isAdmitted: Bool
    private let state = Locked(State())

    /// Creates the scope of a call that the current task makes.
    package init(deadline: Deadline? = nil) {
        let position = CallScope.Position.current.flatMap { $0.isOver ? nil : $0 }
        self.deadline = deadline
        parent = position?.scope
        refresh = position?.refresh
        isAdmitted = position?.hasPermit ?? false
    }

    /// The admission of the attempt that is in progress.
    var admission: (any CallAdmission)? {
        get { state.withLock { $0.admission } }
        set { state.withLock { $0.admission = newValue } }
    }

    /// Whether calls inside this call need no further permit.
    var hasPermit: Bool { isAdmitted || admission?.isHeld ?? false }

    /// Whether the call is part of a token refresh.
    var isPartOfRefresh: Bool { refresh?.isOpen ?? false }

    /// Whether the call has returned. A task that the call has started may still run after that, but no longer belongs
    /// to the call.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Returns the identifier of the call. It is created at its first use.
    func id(using random: RandomSource) -> UUID {
        if let id = state.withLock({ $0.id }) { return id }
        let drawn = random.uuid()
        return state.withLock { state in
            let id = state.id ?? drawn
            state.id = id
            return id
        }
    }

    /// Throws the interruption of the current call, if that call must end.
    static func check() throws { try current?.check() }

    /// Throws if the current task is cancelled, or if its call must end. The task may be a child task of the call;
    /// cancelling a child task does not end the call.
    static func checkReader() throws {
        if Task.isCancelled { throw Interruption.cancelled }
        guard let current else { return }
        if let deadline = current.deadline, deadline.hasPassed { current.interrupt(.deadlineExceeded) }
        if let interruption = current.state.withLock({ $0.phase.interruption }) { throw interruption }
    }

    /// Throws the interruption, if the call must end.
    func check() throws {
        if let interruption { throw interruption }
    }

    /// Whether a pause ended the scope.
    var wasPaused: Bool { state.withLock { $0.phase == .ended(.paused) } }

    /// Whether the call must end because it was cancelled.
    var isCancelled: Bool { state.withLock { $0.phase == .ended(.cancelled) } }

    /// The reason why the call must end; nil if it may continue. Read this property only in the task of the call.
    var interruption: Interruption? {
        checkForInterruption()
        return state.withLock { $0.phase.interruption }
    }

    /// Ends every wait of the call.
    ///
    /// - Returns: Whether this interruption ended the call; false if the call was already interrupted or completed.
    @discardableResult
    func interrupt(_ interruption: Interruption) -> Bool {
        guard let opened = state.withLock({ $0.leaveOpen(for: .ended(interruption)) }) else { return false }
        opened.timer?.cancel()
        opened.waits.forEach { $0.end(with: interruption) }
        return true
    }

    package func end(with interruption: Interruption) {
        interrupt(interruption)
    }

    /// Completes the scope, because the call has its outcome. From now on, the scope ends no waits.
    ///
    /// - Throws: The interruption, if the call was interrupted earlier. The interruption is then the outcome of the
    ///   call.
    func complete() throws {
        checkForInterruption()
        if let interruption = completeUnchecked() { throw interruption }
    }

    /// Completes the scope without checking whether the current task is cancelled or the deadline has passed.
    ///
    /// - Returns: The interruption, if the call was interrupted earlier.
    func completeUnchecked() -> Interruption? {
        guard let opened = state.withLock({ $0.leaveOpen(for: .closed) }) else {
            return state.withLock { $0.phase.interruption }
        }
        opened.timer?.cancel()
        return nil
    }

    /// Marks the call as returned, regardless of its outcome. The scope then registers no further waits, for example
    /// waits of tasks that continue after the call.
    func detach() {
        state.withLock { state in
            state.isOver = true
            state.admission = nil
        }
    }

    /// Registers a wait. If the scope has been interrupted, the wait ends at once.
    func add(_ wait: any Endable) {
        let (phase, hasTimer) = state.withLock { state in
            guard !state.isOver else { return (Phase.closed, true) }
            if state.phase == .open { state.waits.append(wait) }
            return (state.phase, state.timer != nil)
        }
        switch phase {
        case .open: if let deadline, !hasTimer { arm(deadline) }
        case .ended(let interruption): wait.end(with: interruption)
        case .closed: break
        }
    }

    func remove(_ wait: any Endable) {
        state.withLock { _ = $0.waits.remove { $0.id == wait.id } }
    }

    /// Checks whether the task is cancelled or the deadline has passed. If the call does not wait, no other code
    /// reports this.
    private func checkForInterruption() {
        if Task.isCancelled { interrupt(.cancelled) }
        if let deadline, deadline.hasPassed { interrupt(.deadlineExceeded) }
    }

    private func arm(_ deadline: Deadline) {
        let timer = deadline.clock.schedule(at: deadline.instant) { [weak self] in
            _ = self?.interrupt(.deadlineExceeded)
        }
        let isKept = state.withLock { state in
            guard state.phase == .open, state.timer == nil else { return false }
            state.timer = timer
            return true
        }
        if !isKept { timer.cancel() }
    }
}

extension CallScope {
    /// The scope of the call that the current task runs in.
    static var current: CallScope? { Position.current?.owner }

    /// The relation of a task to the calls of the library.
    enum Position: Sendable {
        /// The task runs in a call. If the call is interrupted, the waits of the task end.
        case inside(CallScope)
        /// The task runs in a transfer that a call has started. The transfer continues even if that call ends.
        case beside(CallScope)
        /// The task runs in a token refresh.
        case refreshing(RefreshMark)

        /// The position of the current task; nil outside calls and refreshes.
        @TaskLocal static var current: Position?

        /// The call that started the work of the task.
        var scope: CallScope? {
            switch self {
            case .inside(let scope), .beside(let scope): scope
            case .refreshing: nil
            }
        }

        /// The call that the task runs in. An interruption of this call also ends the waits of the task.
        var owner: CallScope? { if case .inside(let scope) = self { scope } else { nil } }

        /// The token refresh to which the task belongs, directly or through one of the calls of the refresh.
        var refresh: RefreshMark? { if case .refreshing(let mark) = self { mark } else { scope?.refresh } }

        /// Whether the task runs under the permit of a call. If so, the calls that the task makes need no further
        /// permit.
        var hasPermit: Bool {
            switch self {
            case .inside(let scope): scope.hasPermit
            case .beside: true
            case .refreshing: false
            }
        }

        /// Whether the call of the task has returned. A task that keeps running afterwards no longer belongs to the
        /// call.
        var isOver: Bool { owner?.isOver ?? false }
    }
}

/// The permits of a call's attempt. Other calls may be waiting for these permits.
package protocol CallAdmission: AnyObject, Sendable {
    /// Whether the call still holds the permits.
    var isHeld: Bool { get }
}
