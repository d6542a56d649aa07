/// The rules of a gate for one origin. They record its pauses independently of the machine. The name of a rule is the
/// name of its function.
struct GateRules: Sendable {
    private(set) var opening = 0
    /// The time from which no request waits.
    private(set) var end = 0
    var faults: [String] = []

    private mutating func expect(_ isTrue: Bool, _ text: String, rule: String = #function) {
        if !isTrue { faults.append("\(rule.prefix { $0 != "(" }): \(text)") }
    }

    mutating func close(for pause: Int, halves: Int, at now: Int, changed: Bool) {
        let isLonger = now + pause > opening
        aLongerPauseCounts(isLonger, changed)
        if isLonger { (opening, end) = (now + pause, max(end, now + pause + pause * halves / 2)) }
    }

    mutating func wait(until turn: Int, at now: Int) {
        nobodyLeavesInAPause(turn)
        nobodyWaitsLongerThanPauseAndSpread(turn)
    }

    mutating func leave(isRepeated: Bool, turnOf pause: Int, at now: Int) {
        nobodyLeavesInAPause(now)
        aRepeatedRequestHasATurn(isRepeated, pause, at: now)
    }

    private mutating func aLongerPauseCounts(_ isLonger: Bool, _ changed: Bool) {
        expect(
            isLonger == changed,
            "the pause is \(isLonger ? "" : "not ")longer, and the gate \(changed ? "" : "un")changed")
    }

    private mutating func nobodyLeavesInAPause(_ time: Int) {
        expect(time >= opening, "a request leaves at \(time), and the gate opens at \(opening)")
    }

    private mutating func nobodyWaitsLongerThanPauseAndSpread(_ turn: Int) {
        expect(turn <= max(end, opening), "the turn is at \(turn), and the spread ends at \(end)")
    }

    /// During the spread, a repeated request leaves only if it has had a turn.
    private mutating func aRepeatedRequestHasATurn(_ isRepeated: Bool, _ pause: Int, at now: Int) {
        if isRepeated, now < end { expect(pause == opening, "a repeated request leaves without a turn") }
    }
}
