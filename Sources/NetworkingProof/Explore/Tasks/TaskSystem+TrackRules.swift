// The rules for the attempts, the progress and the report that a task shows. The name of a rule is the name of its
// function.
extension TaskSystem {
    /// The call whose attempts, progress and report a task has; nil if there is none yet. The call is that of the
    /// task's first source. For a task of `flatMap`, it is the call of the task that the closure has returned, or of
    /// the source if the source has failed.
    private func call(of index: Int) -> Int? {
        let node = nodes[index]
        if node.isCall { return index }
        if node.isCancelled || node.hasFailed { return nil }
        guard node.next != nil else { return call(of: node.sources[0]) }
        if let next = returned(node) { return call(of: next) }
        let source = nodes[node.sources[0]]
        return source.outcome != nil && !source.hasValue ? call(of: node.sources[0]) : nil
    }

    /// The callbacks of a task are notified of each attempt of its call once.
    func theAttemptsAreThoseOfTheCall() {
        for (index, node) in nodes.enumerated() {
            guard let call = call(of: index) else { continue }
            let expected = Array(repeating: call, count: nodes[call].attempts)
            expect(node.track == expected, "task \(index + 1) hears the attempts \(node.track) of call \(call + 1)")
        }
    }

    /// A task that has an outcome has the report of its call.
    func theReportIsThatOfTheCall() {
        for (index, node) in nodes.enumerated() where node.outcome != nil {
            guard let call = call(of: index), nodes[call].isOver else { continue }
            let report = node.report
            expect(report == "\(call)", "task \(index + 1) has the report of \(report ?? "no call")")
        }
    }

    func theProgressIsThatOfTheCall() {
        for (index, node) in nodes.enumerated() where node.outcome == nil {
            guard let call = call(of: index) else { continue }
            expect(
                node.received == Int64(nodes[call].attempts), "task \(index + 1) shows \(node.received) bytes")
        }
    }

    func theStateIsThatOfTheCall() {
        for (index, node) in nodes.enumerated() where node.outcome == nil {
            guard let call = call(of: index) else { continue }
            expect(
                node.isRunning == (nodes[call].attempts > 0 && !node.isFoundCancelled),
                "task \(index + 1) is \(node.isRunning ? "" : "not ")running")
        }
    }
}
