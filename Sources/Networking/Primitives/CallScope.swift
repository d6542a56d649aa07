import Foundation

/// What may end the waits of one call from outside: its owner, its deadline, a reset.
///
/// Every ``Settlement`` that is waited for inside the call registers with ``current``, wherever the wait is (a queue,
/// an engine, a token), so that ending the scope ends them all at once. A call made inside another call registers as
/// one such wait. A deadline arms no timer until something waits.
final class CallScope: Endable {
    private enum Phase: Equatable, Sendable {
        case open
        case ended(Interruption)
        case closed
    }

    private struct State: Sendable {
        var phase = Phase.open
        var waits = Few<any Endable>()
        var timer: ScheduledAction?
        /// The permit of the attempt under way.
        var permit: (any CallPermit)?
        /// The call has returned.
        var isOver = false
        /// What tells the call from every other one, once somebody has asked.
        var id: UUID?

        /// Moves on from `open`, and hands over what is to be let go.
        mutating func leaveOpen(for next: Phase) -> State? {
            guard phase == .open else { return nil }
            let opened = self
            self = State(phase: next, permit: permit, isOver: isOver, id: id)
            return opened
        }
    }

    let deadline: Deadline?
    /// The call that made this one.
    let parent: CallScope?
    /// The refresh that made this call.
    let refresh: RefreshMark?
    /// Whether the call was made under the permit of another one, which may wait for it: it must not wait for a second
    /// one.
    let isAdmitted: Bool
    private let state = Locked(State())

    /// Makes the scope of a call that is made by the current task.
    init(deadline: Deadline? = nil) {
        let position = CallPosition.current.flatMap { $0.isOver ? nil : $0 }
        self.deadline = deadline
        parent = position?.scope
        refresh = position?.refresh
        isAdmitted = position?.hasPermit ?? false
    }

    /// The permit of the attempt under way.
    var permit: (any CallPermit)? {
        get { state.withLock { $0.permit } }
        set { state.withLock { $0.permit = newValue } }
    }

    /// Whether calls that are made inside this one need no permit.
    var hasPermit: Bool { isAdmitted || permit?.isHeld ?? false }

    /// Whether the call is part of a token refresh.
    var isPartOfRefresh: Bool { refresh?.isOpen ?? false }

    /// Whether the call has returned: tasks that it left running are on their own.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// What tells the call from every other one; drawn when somebody asks first.
    func id(using random: RandomSource) -> UUID {
        if let id = state.withLock({ $0.id }) { return id }
        let drawn = random.uuid()
        return state.withLock { state in
            let id = state.id ?? drawn
            state.id = id
            return id
        }
    }

    /// - Throws: The interruption of the current call, if it has to end.
    static func check() throws { try current?.check() }

    /// - Throws: The interruption, if the call has to end.
    func check() throws {
        if let interruption { throw interruption }
    }

    /// Whether a pause ended it.
    var wasPaused: Bool { state.withLock { $0.phase == .ended(.paused) } }

    /// Whether the call has to end because it was cancelled.
    var isCancelled: Bool { state.withLock { $0.phase == .ended(.cancelled) } }

    /// Why the call has to end, if it has to: asked from the call's own task.
    var interruption: Interruption? {
        checkForInterruption()
        return state.withLock { state in
            if case .ended(let interruption) = state.phase { interruption } else { nil }
        }
    }

    /// Ends every wait of the call.
    ///
    /// - Returns: Whether this made the call end: false if it had ended or was answered before.
    @discardableResult
    func interrupt(_ interruption: Interruption) -> Bool {
        guard let opened = state.withLock({ $0.leaveOpen(for: .ended(interruption)) }) else { return false }
        opened.timer?.cancel()
        opened.waits.forEach { $0.end(with: interruption) }
        return true
    }

    func end(with interruption: Interruption) {
        interrupt(interruption)
    }

    /// The call has its outcome; from now on the scope ends nothing.
    ///
    /// - Throws: The interruption that came before, which is the outcome then.
    func complete() throws {
        checkForInterruption()
        if let interruption = completeUnchecked() { throw interruption }
    }

    /// Closes the scope, and ignores whether the current task is cancelled.
    ///
    /// - Returns: The interruption that came before.
    func completeUnchecked() -> Interruption? {
        guard let opened = state.withLock({ $0.leaveOpen(for: .closed) }) else {
            return state.withLock { if case .ended(let interruption) = $0.phase { interruption } else { nil } }
        }
        opened.timer?.cancel()
        return nil
    }

    /// The call has been answered, whichever way: what still runs in its name is no longer ended by it.
    func detach() {
        state.withLock { $0.isOver = true }
    }

    /// Registers a wait; it is ended at once where the scope has ended.
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

    /// Sees what nobody had to wait for.
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

/// A moment on a clock by which something has to be over.
struct Deadline: Sendable {
    let instant: Duration
    let clock: NetworkClock

    init(after duration: Duration, on clock: NetworkClock) {
        self.instant = clock.now() + duration
        self.clock = clock
    }

    /// The time left; zero or less once it has passed.
    var remaining: Duration { instant - clock.now() }

    var hasPassed: Bool { remaining <= .zero }
}

/// Why the library ended a wait before what was waited for came.
enum Interruption: Error, Equatable {
    /// The task, or the call, was cancelled.
    case cancelled
    /// The call's total deadline passed.
    case deadlineExceeded
    /// The work was paused, and will be begun again.
    case paused
    /// The service is being reset.
    case resetting
}

/// What others wait for while a call holds it.
protocol CallPermit: AnyObject, Sendable {
    /// Whether it has not been released yet.
    var isHeld: Bool { get }
}

/// A wait that can be ended from outside. Its identity is that of the object behind it.
protocol Endable: Identifiable<ObjectIdentifier>, Sendable {
    func end(with interruption: Interruption)
}
