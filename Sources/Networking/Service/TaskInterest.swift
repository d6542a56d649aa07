/// Who is interested in the outcome of a task, and in which tasks it is interested itself.
///
/// Cancelling a task ends the tasks that it is interested in, unless somebody else is. It knows no values, so that a
/// chain of tasks is walked in a loop, however long it is.
final class TaskInterest: Sendable {
    private struct State: Sendable {
        /// Callbacks, derived tasks, and callers that wait at the moment.
        var count = 0
        /// The tasks whose outcomes the task waits for.
        var sources: [TaskInterest] = []
        /// Whether the task is one of those that are interested in its sources.
        var isCounted = true
        /// Ends the task if none of its sources will.
        var end: (@Sendable () -> Void)?

        /// The sources, which nobody waits for any more in the name of the task.
        mutating func takeSources() -> (sources: [TaskInterest], isCounted: Bool) {
            defer { sources = [] }
            return (sources, isCounted)
        }
    }

    /// Ends the waits of the task's own call.
    let scope: CallScope
    private let state: Locked<State>

    /// - Parameters:
    ///   - sources: The tasks whose outcomes the task waits for; each is joined.
    ///   - end: Ends the task when it is cancelled and none of its sources will: stops its call, or settles it.
    init(_ scope: CallScope, in sources: [TaskInterest] = [], endingBy end: @escaping @Sendable () -> Void) {
        self.scope = scope
        state = Locked(State(sources: sources, end: end))
        for source in sources { source.join() }
    }

    /// Somebody is interested in the task from now on.
    func join() {
        let sources: [TaskInterest] = state.withLock { state in
            state.count += 1
            guard !state.isCounted else { return [] }
            state.isCounted = true
            return state.sources
        }
        for source in sources { source.join() }
    }

    /// Somebody is no longer interested, which cancels nothing.
    func leave() {
        _ = leaves()
    }

    /// The same.
    ///
    /// - Returns: Whether that was the last one.
    private func leaves() -> Bool {
        state.withLock { state in
            state.count -= 1
            return state.count == 0
        }
    }

    private var isUnwanted: Bool { state.withLock { $0.count == 0 } }

    /// Cancels the task.
    ///
    /// - Returns: Whether this makes it end.
    func cancel() -> Bool {
        guard scope.interrupt(.cancelled) else { return false }
        TaskInterest.settle([self])
        return true
    }

    /// Is no longer interested in its sources, and cancels those in which nobody else is.
    func dropSources() {
        TaskInterest.settle(endSources())
    }

    /// Has tasks that have to end do so: by the end of their sources, or by themselves if none of those ends.
    private static func settle(_ tasks: [TaskInterest]) {
        var ended = tasks
        while let task = ended.popLast() {
            let sources = task.endSources()
            if sources.isEmpty { task.state.withLock { $0.end }?() }
            ended += sources
        }
    }

    /// - Returns: The sources that have to end.
    private func endSources() -> [TaskInterest] {
        let (sources, isCounted) = state.withLock { $0.takeSources() }
        return sources.filter { (isCounted ? $0.leaves() : $0.isUnwanted) && $0.scope.interrupt(.cancelled) }
    }

    /// The task waits for another one from now on. If it is cancelled, that one ends, too, unless somebody else wants
    /// it.
    ///
    /// - Parameter isPassedOver: Whether those who waited for this one have gone on to the other one. Then it is
    ///   interested itself only if somebody else is interested in it.
    func follow(_ source: TaskInterest, isPassedOver: Bool) {
        let (before, isCounted) = state.withLock { state in
            let before = state.takeSources()
            state.sources = [source]
            state.isCounted = !isPassedOver || state.count > 0
            return (before, state.isCounted)
        }
        if isCounted { source.join() }
        if before.isCounted { for source in before.sources { source.leave() } }
        if scope.isCancelled { dropSources() }
    }

    /// The task has settled.
    func finish() {
        let before = state.withLock { state in
            defer { (state.sources, state.end) = ([], nil) }
            return state
        }
        withExtendedLifetime(before) {}
    }
}
