// The rules for calls and derived tasks. The name of a rule is the name of its function.
extension TaskSystem {
    func expect(_ isTrue: Bool, _ text: String, rule: String = #function) {
        if !isTrue { faults.append("\(rule.prefix { $0 != "(" }): \(text)") }
    }

    /// The task that the closure of `flatMap` has returned; nil if the closure was not called.
    func returned(_ node: Node) -> Int? { node.isFollowing ? node.next : nil }

    /// The tasks whose outcomes a task waits for now. If task A takes over the outcome of task B, and B takes over the
    /// outcome of task C, then A waits for C.
    private func awaited(_ node: Node) -> [Int] {
        guard var next = returned(node) else { return node.sources }
        var last = node
        while !last.isFollowingEnded, let later = returned(nodes[next]) { (last, next) = (nodes[next], later) }
        return [next]
    }

    /// Whether a task takes over an outcome, and another task takes over the outcome of this task. Both tasks then wait
    /// for the same task.
    private func isPassedOver(_ index: Int) -> Bool {
        returned(nodes[index]) != nil && nodes.contains { returned($0) == index }
    }

    private func isUsed(_ index: Int) -> Bool {
        nodes[index].observers > 0 || nodes[index].joined > 0
            || nodes.contains { $0.outcome == nil && !$0.isCancelled && awaited($0).contains(index) }
    }

    /// Whether something is interested in the outcome of a task: a callback, a caller, or a task that waits for it. A
    /// waiting task that is passed over counts only while something uses the outcome of the waiting task itself.
    private func isWanted(_ index: Int) -> Bool {
        if nodes[index].observers > 0 || nodes[index].joined > 0 { return true }
        return nodes.indices.contains { other in
            nodes[other].outcome == nil && !nodes[other].isCancelled && awaited(nodes[other]).contains(index)
                && (!isPassedOver(other) || isUsed(other))
        }
    }

    /// Cancels a task and, in the model, every source in which nothing else is interested.
    func cancel(_ index: Int) {
        let node = nodes[index]
        let isFirst = node.outcome == nil && !node.isCancelled
        if isFirst { drop(index) }
        let hasCancelled = node.cancel()
        cancelTellsWhetherItCancelled(hasCancelled, isFirst, index)
    }

    private func drop(_ index: Int) {
        var dropped = [index]
        while let next = dropped.popLast() {
            let node = nodes[next]
            // A task that already had its outcome is not cancelled, even if the outcome has not been recorded yet.
            guard node.outcome == nil, !node.isCancelled, !node.isOver || !isExplained(node) else { continue }
            node.isCancelled = true
            dropped += awaited(node).filter { !isWanted($0) }
        }
    }

    /// Records the new outcomes. The outcome of a task is recorded after the outcomes that it follows from. If a task
    /// of `all` fails, it is no longer interested in its other source.
    func settle() {
        outcomesStayTheSame()
        while let node = nodes.first(where: { $0.outcome == nil && $0.isOver && isExplained($0) }) {
            node.outcome = node.found
            beginFollowing()
            // If the task was cancelled, its interest in its sources ended at the cancellation.
            guard node.kind == 3, !node.hasValue, !node.isCancelled else { continue }
            for source in node.sources where !nodes[source].hasValue && !isWanted(source) { drop(source) }
        }
        noTaskEndsBeforeItsSources()
        theOutcomeFollows()
        for node in nodes { node.outcome = node.found }
    }

    /// Notes which closures of `flatMap` are called. The closures of cancelled tasks are not called.
    func beginFollowing() {
        for (index, node) in nodes.enumerated() where node.outcome == nil && !node.isCancelled && !node.hasFailed {
            guard let next = node.next, !node.isFollowing else { continue }
            let source = nodes[node.sources[0]]
            guard source.outcome != nil, source.hasValue else { continue }
            node.hasFailed = !nodes.indices.contains(next) || next == index || failsInCircle(node, index, next)
            guard !node.hasFailed else { continue }
            node.isFollowing = true
            node.isFollowingEnded = nodes[next].isCancelled || nodes[next].outcome != nil
        }
    }

    /// Whether a closure fails because its task would wait for itself. If the closures of several tasks in a circle are
    /// called at once, any one of them may fail; the outcome shows which one.
    private func failsInCircle(_ node: Node, _ index: Int, _ next: Int) -> Bool {
        if node.found == "invalidRequest" { return waits(next, for: index, withNext: true) }
        return !node.isOver && waits(next, for: index)
    }

    /// Whether a task waits for another task, directly or through other tasks.
    ///
    /// - Parameter withNext: Whether a task whose closure has not been called yet counts as waiting for the task that
    ///   the closure will return.
    private func waits(_ index: Int, for other: Int, withNext: Bool = false) -> Bool {
        var tasks = [index]
        var seen: Set<Int> = []
        while let task = tasks.popLast() {
            guard nodes[task].outcome == nil, !nodes[task].isCancelled, seen.insert(task).inserted else { continue }
            let later = withNext ? nodes[task].next.map { [$0] } ?? [] : []
            let next = awaited(nodes[task]) + later.filter(nodes.indices.contains)
            if next.contains(other) { return true }
            tasks += next
        }
        return false
    }

    /// Whether a task may have its outcome: it is a call, it was cancelled, or the outcome follows from the outcomes of
    /// the tasks that it waits for.
    private func isExplained(_ node: Node) -> Bool {
        node.isCall || node.isCancelled || node.hasFailed || hasSources(node) && expected(node).contains(node.found)
    }

    /// Whether the tasks that a task waits for have ended. For a task of `all` that fails, one of them is enough.
    private func hasSources(_ node: Node) -> Bool {
        let outcomes = awaited(node).map { nodes[$0].outcome }
        return node.kind == 3 && !node.hasValue ? outcomes.contains { $0 != nil } : outcomes.allSatisfy { $0 != nil }
    }

    /// The possible outcomes of a task, given the outcomes of the tasks that it waits for. A task of `all` may fail
    /// with any of their failures.
    private func expected(_ node: Node) -> [String?] {
        let found = awaited(node).compactMap { nodes[$0].outcome }
        let values = found.compactMap { Int($0) }
        return switch node.kind {
        case 1: values.isEmpty ? found : ["\(values[0] + 1)"]
        case 2: values.isEmpty ? ["7"] : found
        case 3: values.count == 2 ? ["\(values[0] + values[1])"] : found.filter { Int($0) == nil }
        default: found
        }
    }

    func check() {
        aFailedClosureFailsTheTask()
        everyObserverHearsOnce()
        aCallIsCancelledIfNobodyIsInterested()
        aCancelledCallIsStopped()
        aTaskEndsWithItsSources()
        noSuccessAfterCancellation()
        theAttemptsAreThoseOfTheCall()
        theReportIsThatOfTheCall()
        theProgressIsThatOfTheCall()
        theStateIsThatOfTheCall()
    }

    private func outcomesStayTheSame() {
        for (index, node) in nodes.enumerated() {
            guard let outcome = node.outcome else { continue }
            expect(node.found == outcome, "the outcome of task \(index + 1) changes")
        }
    }

    private func everyObserverHearsOnce() {
        for (index, node) in nodes.enumerated() where node.observers > 0 {
            let expected = node.outcome.map { [$0] } ?? []
            expect(node.heard == expected, "an observer of task \(index + 1) is notified with \(node.heard)")
        }
    }

    /// A call is cancelled if and only if its own `cancel()` was called, or nothing is interested in the call any more.
    private func aCallIsCancelledIfNobodyIsInterested() {
        for (index, node) in nodes.enumerated() where node.isCall && node.outcome == nil {
            expect(
                node.isFoundCancelled == node.isCancelled,
                "call \(index + 1) is \(node.isFoundCancelled ? "" : "not ")cancelled")
        }
    }

    /// A call is asked to end if and only if it is cancelled.
    private func aCancelledCallIsStopped() {
        for (index, node) in nodes.enumerated() where node.isCall && node.outcome == nil {
            expect(
                node.isStopped == node.isFoundCancelled,
                "call \(index + 1) is \(node.isStopped ? "" : "not ")asked to end")
        }
    }

    /// `cancel()` returns true only if the task had no outcome and was not cancelled before.
    private func cancelTellsWhetherItCancelled(_ hasCancelled: Bool, _ isFirst: Bool, _ index: Int) {
        expect(isFirst == hasCancelled, "cancelling task \(index + 1) returns \(hasCancelled)")
    }

    /// A task that is not cancelled gets its outcome only after the tasks that it waits for.
    private func noTaskEndsBeforeItsSources() {
        for (index, node) in nodes.enumerated() where node.outcome == nil && !hasSources(node) {
            expect(!node.isOver, "task \(index + 1) ends before its source")
        }
    }

    /// A task that is not cancelled has the outcome that follows from the tasks that it waits for.
    private func theOutcomeFollows() {
        for (index, node) in nodes.enumerated() where node.outcome == nil && hasSources(node) {
            let words = "\(node.found ?? "nothing"), not \(expected(node).map { $0 ?? "" })"
            expect(!node.isOver, "task \(index + 1) ends with \(words)")
        }
    }

    /// A task has an outcome as soon as all tasks that it waits for have one. A task of `all` has an outcome as soon as
    /// one of them fails.
    private func aTaskEndsWithItsSources() {
        for (index, node) in nodes.enumerated() where node.outcome == nil && node.kind != 0 {
            let ended = awaited(node).map { nodes[$0] }.filter { $0.outcome != nil }
            let isReady =
                ended.count == awaited(node).count || node.kind == 3 && ended.contains { !$0.hasValue }
            expect(!isReady, "task \(index + 1) has no outcome after its sources")
        }
    }

    /// No success follows a cancellation.
    private func noSuccessAfterCancellation() {
        for (index, node) in nodes.enumerated() where node.isCancelled {
            expect(
                node.outcome.map { Int($0) == nil } ?? true, "task \(index + 1) is cancelled and ends with a value")
        }
    }

    /// A task fails if its closure returns no task that can end.
    func aFailedClosureFailsTheTask() {
        for (index, node) in nodes.enumerated() where node.hasFailed {
            expect(node.isOver && !node.hasValue, "task \(index + 1) does not fail, although its closure does")
        }
    }

    /// When all calls have ended, all tasks have ended, too.
    func everyTaskEnds() {
        for (index, node) in nodes.enumerated() {
            expect(node.isOver, "task \(index + 1) never ends")
        }
    }
}
