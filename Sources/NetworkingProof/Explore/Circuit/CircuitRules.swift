/// The rules of a circuit breaker, and the facts that they need. The rules record the outcomes and the expected phase
/// independently of the machine. The name of a rule is the name of its function. Times are in slices of the window.
struct CircuitRules: Sendable {
    /// The answer to a call.
    enum Answer: Equatable, Sendable {
        case pass, probe
        case refuse(after: Int64)
    }

    enum Outcome: Sendable {
        case success, failure, neither
    }

    enum Phase: Equatable, Sendable {
        case closed
        case open(until: Int64)
        case halfOpen(isProbing: Bool)
    }

    /// The observable state of the circuit.
    struct Shown: Equatable, Sendable {
        let phase: Phase
        /// The number of outcomes that the circuit counts, and how many of them are failures.
        let counted: Int
        let failures: Int
    }

    /// An outcome that has arrived since the circuit closed, and that counts.
    struct Counted: Sendable {
        let slice: Int64
        let isFailure: Bool
    }

    let minimumCalls: Int
    let pause: Int64
    /// The expected phase.
    private(set) var phase = Phase.closed
    /// The slice from which another probe may begin, even if the last probe is still in progress.
    private(set) var nextProbe: Int64 = 0
    private var counted: [Counted] = []
    /// The broken rules of the last move.
    var faults: [String] = []

    init(minimumCalls: Int, pause: Int64) {
        (self.minimumCalls, self.pause) = (minimumCalls, pause)
    }

    /// The outcomes that are in the window, which has 10 slices.
    func window(at now: Int64) -> [Counted] { counted.filter { now - $0.slice < 10 } }

    private mutating func expect(_ isTrue: Bool, _ text: String, rule: String = #function) {
        if !isTrue { faults.append("\(rule.prefix { $0 != "(" }): \(text)") }
    }

    // MARK: What happens

    mutating func enter(_ answer: Answer, at now: Int64) {
        anOpenCircuitRefuses(answer, at: now)
        aPauseEndsWithAProbe(answer, at: now)
        oneProbeAtATime(answer, at: now)
        aClosedCircuitAdmits(answer)
        if answer == .probe { (phase, nextProbe) = (.halfOpen(isProbing: true), now + pause) }
    }

    /// A probe ends.
    ///
    /// - Parameter isLast: Whether no other probe began after it.
    mutating func endProbe(_ outcome: Outcome, isLast: Bool, at now: Int64, before: Shown, shown: Shown) {
        guard case .halfOpen = phase else { return lateOutcomesDoNotCount(before, shown) }
        switch outcome {
        case .success: (phase, counted) = (.closed, [])
        case .failure where isLast: phase = .open(until: now + pause)
        case .neither where isLast: phase = .halfOpen(isProbing: false)
        case .failure, .neither: break
        }
        aProbeDecides(outcome, shown)
        if phase == .closed { aClosingCircuitForgets(shown) }
    }

    /// A call that was admitted before the circuit opened ends.
    mutating func endLate(before: Shown, shown: Shown) {
        lateOutcomesDoNotCount(before, shown)
    }

    /// A call that was admitted since the circuit closed ends. Returns whether the circuit must now be open.
    mutating func end(_ outcome: Outcome, at now: Int64, shown: Shown) -> Bool {
        if outcome != .neither { counted = window(at: now) + [Counted(slice: now, isFailure: outcome == .failure)] }
        let (calls, failures) = (window(at: now).count, window(at: now).filter(\.isFailure).count)
        let opens = outcome == .failure && calls >= minimumCalls && failures * 2 >= calls
        if opens { phase = .open(until: now + pause) }
        theCircuitOpensAtTheRatio(shown, "\(failures) failures of \(calls) calls")
        return opens
    }

    /// The machine reports that it is idle.
    mutating func beIdle(at now: Int64) {
        aProbeIsNotForgotten()
        outcomesAreNotForgotten(at: now)
        aRefusalIsNotForgotten(at: now)
    }

    // MARK: Rules

    /// Until the pause is over, every call is refused. The refusal contains the time until the end of the pause.
    private mutating func anOpenCircuitRefuses(_ answer: Answer, at now: Int64) {
        guard case .open(let until) = phase, now < until else { return }
        expect(
            answer == .refuse(after: until - now),
            "a call \(until - now) slices before the end of the pause gets \(answer)")
    }

    /// A call is admitted as a probe if the pause is over, if the outcome of the last probe says nothing about the
    /// host, or if the last probe takes longer than the pause.
    private mutating func aPauseEndsWithAProbe(_ answer: Answer, at now: Int64) {
        switch phase {
        case .closed: return
        case .halfOpen(isProbing: true): if now < nextProbe { return }
        case .open(let until): if now < until { return }
        case .halfOpen(isProbing: false): break
        }
        expect(answer == .probe, "a call after the pause gets \(answer)")
    }

    /// While a probe is in progress, all other calls are refused for the length of the pause.
    private mutating func oneProbeAtATime(_ answer: Answer, at now: Int64) {
        guard phase == .halfOpen(isProbing: true), now < nextProbe else { return }
        expect(answer == .refuse(after: 0), "a second call gets \(answer)")
    }

    private mutating func aClosedCircuitAdmits(_ answer: Answer) {
        if phase == .closed { expect(answer == .pass, "a closed circuit returns \(answer)") }
    }

    /// The outcome of a probe closes or opens the circuit. If the outcome says nothing about the host, the next call is
    /// a probe.
    private mutating func aProbeDecides(_ outcome: Outcome, _ shown: Shown) {
        expect(shown.phase == phase, "the phase is \(shown.phase) after the \(outcome) of a probe, expected \(phase)")
    }

    /// Failures before the circuit opened do not count after it has closed.
    private mutating func aClosingCircuitForgets(_ shown: Shown) {
        expect(shown.counted == 0, "a closed circuit still counts earlier calls")
    }

    /// A call that was in progress when the circuit opened changes nothing when it ends.
    private mutating func lateOutcomesDoNotCount(_ before: Shown, _ shown: Shown) {
        expect(before == shown, "the outcome of a call from before the opening counts")
    }

    /// A failure opens the circuit if the window contains enough calls, and enough of them have failed.
    private mutating func theCircuitOpensAtTheRatio(_ shown: Shown, _ window: String) {
        expect(shown.phase == phase, "\(window) make the circuit \(shown.phase), expected \(phase)")
    }

    /// After the length of one more pause at the latest, the circuit admits a call, whatever happens to a probe.
    mutating func aRefusedCircuitBecomesReady(_ answerAfterAPause: Answer) {
        guard phase != .closed, case .refuse = answerAfterAPause else { return }
        expect(false, "a call is refused after a whole pause")
    }

    // An idle circuit makes the same decisions as a new circuit, so it may be discarded.

    private mutating func aProbeIsNotForgotten() {
        expect(phase != .halfOpen(isProbing: true), "a machine with a probe in progress is idle")
    }

    private mutating func outcomesAreNotForgotten(at now: Int64) {
        if phase == .closed { expect(window(at: now).isEmpty, "a machine with outcomes in its window is idle") }
    }

    private mutating func aRefusalIsNotForgotten(at now: Int64) {
        if case .open(let until) = phase { expect(now >= until, "a machine that refuses calls is idle") }
    }
}
