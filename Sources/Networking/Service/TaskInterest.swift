/// Counts the callbacks, derived tasks and callers that are interested in the outcome of a task. It also contains the
/// sources of the task: the tasks whose outcomes the task waits for.
///
/// A task holds the lock of its own state while it changes this state and the counts of its sources. Therefore no other
/// thread sees only one of these changes. A task locks its own state first and then the state of its sources. This
/// order prevents a deadlock, because sources never depend on the task.
///
/// Cancelling a task also cancels its sources, except the sources in which something else is interested. `TaskInterest`
/// is not generic over the value of a task, so that a loop can walk a chain of tasks of any length.
package final class TaskInterest: Sendable {
    private struct State: Sendable {
        /// The number of callbacks, derived tasks and currently waiting callers that are interested in the task.
        var count = 0
        /// The tasks whose outcomes the task waits for.
        var sources: [TaskInterest] = []
        /// Whether a task that waited for this task now waits directly for the source of this task. This task is then
        /// interested in its source only while something is interested in this task.
        var isPassedOver = false
        /// Whether the task is counted in the `count` of its sources.
        var isCounted: Bool { !isPassedOver || count > 0 }
        /// Ends the task; called when none of its sources is going to end it.
        var end: (@Sendable () -> Void)?

        /// Removes and returns the sources: from now on the task no longer waits for them.
        mutating func takeSources() -> (sources: [TaskInterest], isCounted: Bool) {
            defer { sources = [] }
            return (sources, isCounted)
        }
    }

    /// The scope that ends the waits of the task's own call.
    package let scope: CallScope
    private let state: Locked<State>

    /// - Parameters:
    ///   - sources: The tasks whose outcomes the task waits for. The task joins each of them.
    ///   - end: Stops the call of the task, or settles the task. It is called if the task is cancelled and none of its
    ///     sources is going to end it.
    package init(_ scope: CallScope, in sources: [TaskInterest] = [], endingBy end: @escaping @Sendable () -> Void) {
        self.scope = scope
        state = Locked(State(sources: sources, end: end))
        for source in sources { source.join() }
    }

    /// Adds one to the number of callbacks, tasks and callers that are interested in the task.
    package func join() {
        state.withLock { state in
            state.count += 1
            guard state.isPassedOver, state.count == 1 else { return }
            for source in state.sources { source.join() }
        }
    }

    /// Notes that a task that waited for this task now waits directly for the source of this task.
    func passOver() {
        state.withLock { state in
            guard !state.isPassedOver else { return }
            state.isPassedOver = true
            guard state.count == 0 else { return }
            for source in state.sources { source.leave() }
        }
    }

    /// Subtracts one from the number of callbacks, tasks and callers that are interested in the task. Does not cancel
    /// the task.
    ///
    /// - Returns: True if nothing is interested in the task any longer.
    @discardableResult
    package func leave() -> Bool {
        state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return false }
            if state.isPassedOver { for source in state.sources { source.leave() } }
            return true
        }
    }

    /// Returns whether the task waits for another task, directly or through its sources.
    func waits(for other: TaskInterest) -> Bool {
        var tasks = [self]
        var seen: Set<ObjectIdentifier> = []  // a task of `all` may have several ways to one source
        while let task = tasks.popLast() {
            for source in task.state.withLock({ $0.sources }) where seen.insert(ObjectIdentifier(source)).inserted {
                if source === other { return true }
                tasks.append(source)
            }
        }
        return false
    }

    private var isUnwanted: Bool { state.withLock { $0.count == 0 } }

    /// Cancels the task.
    ///
    /// - Returns: Whether this call of the method makes the task end.
    func cancel() -> Bool {
        guard scope.interrupt(.cancelled) else { return false }
        TaskInterest.settle([self])
        return true
    }

    /// Ends the interest of the task in its sources, and cancels the sources that nothing else is interested in.
    func dropSources() {
        TaskInterest.settle(endSources())
    }

    /// Ends tasks. If a task has sources that nothing else is interested in, cancels these sources. Otherwise, calls
    /// the task's `end` closure.
    private static func settle(_ tasks: [TaskInterest]) {
        var ended = tasks
        while let task = ended.popLast() {
            let sources = task.endSources()
            if sources.isEmpty { task.state.withLock { $0.end }?() }
            ended += sources
        }
    }

    /// Removes the sources of the task.
    ///
    /// - Returns: The sources that have to end.
    private func endSources() -> [TaskInterest] {
        let (sources, isCounted) = state.withLock { $0.takeSources() }
        return sources.filter { (isCounted ? $0.leave() : $0.isUnwanted) && $0.scope.interrupt(.cancelled) }
    }

    /// Makes `source` the only source of this task. If this task is cancelled, `source` is cancelled, too, unless
    /// something else is interested in `source`.
    ///
    /// - Parameter isPassedOver: Whether the tasks that waited for this task now wait directly for `source`. If so,
    ///   this task is interested in the source only while something is interested in this task.
    func follow(_ source: TaskInterest, isPassedOver: Bool) {
        let before = state.withLock { state in
            let before = state.takeSources()
            state.sources = [source]
            if isPassedOver { state.isPassedOver = true }
            if state.isCounted { source.join() }
            if before.isCounted { for source in before.sources { source.leave() } }
            return before
        }
        withExtendedLifetime(before) {}  // released outside the lock
        if scope.isCancelled { dropSources() }
    }

    /// Releases the sources and the closure after the task has settled.
    func finish() {
        let before = state.withLock { state in
            defer { (state.sources, state.end) = ([], nil) }
            return state
        }
        withExtendedLifetime(before) {}
    }
}
