import Networking

// The moves, and the rules that are checked after each move. The name of a rule is the name of its function.
extension CircuitWorld {
    private mutating func expect(_ isTrue: Bool, _ text: String, rule: String = #function) {
        if !isTrue { faults.append("\(rule.prefix { $0 != "(" }): \(text)") }
    }

    mutating func enter() {
        let answer = machine.enter(at: time)
        anOpenCircuitRefuses(answer)
        oneProbeAtATime(answer)
        aClosedCircuitAdmits(answer)
        switch answer {
        case .pass: running[.current, default: []].append(machine.openings)
        case .probe:
            running[.probe, default: []].append(machine.openings)
            phase = .halfOpen
        case .refuse: break
        }
    }

    mutating func leave(_ call: Call, _ outcome: CircuitMachine.Outcome) {
        let admitted = running[call, default: []].removeFirst()
        let before = machine
        machine.leave(outcome, wasProbe: call == .probe, admitted: admitted, at: time)
        switch call {
        case .probe: aProbeDecides(outcome)
        case .late: lateOutcomesDoNotCount(before)
        case .current:
            if outcome != .neither { counted = window + [Counted(slice: now, isFailure: outcome == .failure)] }
            theCircuitOpensAtTheRatio(outcome)
        }
    }

    /// Until the pause is over, every call is refused. The refusal contains the time until the end of the pause.
    private mutating func anOpenCircuitRefuses(_ answer: CircuitMachine.Answer) {
        guard case .open(let until) = phase, now < until else { return }
        expect(
            answer == .refuse(after: .milliseconds(until - now)),
            "a call \(until - now) slices before the end of the pause gets \(answer)")
    }

    /// After the pause, one call is admitted as a probe. All other calls are refused until the probe has ended.
    private mutating func oneProbeAtATime(_ answer: CircuitMachine.Answer) {
        let isReady: Bool
        switch phase {
        case .closed: return expect(answer != .probe, "a closed circuit sends a probe")
        case .open(let until): isReady = now >= until
        case .halfOpen: isReady = running[.probe, default: []].isEmpty
        }
        if isReady { expect(answer == .probe, "a call after the pause gets \(answer)") }
        if case .halfOpen = phase, !isReady { expect(answer == .refuse(after: .zero), "a second call gets \(answer)") }
    }

    private mutating func aClosedCircuitAdmits(_ answer: CircuitMachine.Answer) {
        if phase == .closed { expect(answer == .pass, "a closed circuit returns \(answer)") }
    }

    /// The outcome of a probe closes or opens the circuit. If it says nothing about the host, the next call is a probe.
    private mutating func aProbeDecides(_ outcome: CircuitMachine.Outcome) {
        switch outcome {
        case .success:
            phase = .closed
            counted = []
            expect(machine.state == .closed, "the circuit is \(machine.state) after a successful probe")
        case .failure:
            phase = .open(until: now + options.pause)
            expect(machine.phase == .open(until: time + .milliseconds(options.pause)), "the pause does not begin again")
        case .neither:
            expect(machine.phase == .halfOpen(isProbing: false), "a probe that says nothing changes the phase")
        }
        aClosingCircuitForgets()
    }

    /// Failures before the circuit opened do not count after it has closed.
    private mutating func aClosingCircuitForgets() {
        guard phase == .closed else { return }
        expect(machine.counts.allSatisfy { $0.calls == 0 }, "a closed circuit still counts earlier calls")
    }

    /// A call that was in progress when the circuit opened changes nothing when it ends.
    private mutating func lateOutcomesDoNotCount(_ before: CircuitMachine) {
        let isSame =
            machine.phase == before.phase
            && machine.counts.map(\.calls).reduce(0, +) == before.counts.map(\.calls).reduce(0, +)
        expect(isSame, "the outcome of a call from before the opening counts")
    }

    /// A failure opens the circuit if the window contains enough calls, and enough of them have failed.
    private mutating func theCircuitOpensAtTheRatio(_ outcome: CircuitMachine.Outcome) {
        let failures = window.filter(\.isFailure).count
        let isOver =
            outcome == .failure && window.count >= options.minimumCalls && failures * 2 >= window.count
        let opened = CircuitMachine.Phase.open(until: time + .milliseconds(options.pause))
        expect(
            machine.phase == (isOver ? opened : .closed),
            "\(failures) failures of \(window.count) calls make the circuit \(machine.state)")
        guard isOver else { return }
        phase = .open(until: now + options.pause)
        running[.late, default: []] += running[.current, default: []]
        running[.current] = nil
    }

    /// If no probe is in progress, the circuit admits a call after the pause, or earlier.
    mutating func aRefusedCircuitBecomesReady() {
        guard phase != .closed, running[.probe, default: []].isEmpty else { return }
        var later = machine
        if case .refuse = later.enter(at: time + .milliseconds(options.pause)) {
            expect(false, "a call is refused after a whole pause")
        }
    }

    /// A machine that counts as idle makes the same decisions as a new machine.
    mutating func anIdleMachineMayBeForgotten() {
        guard machine.isIdle(at: time) else { return }
        expect(running[.probe, default: []].isEmpty, "a machine with a probe in progress is idle")
        if phase == .closed { expect(window.isEmpty, "a machine with outcomes in its window is idle") }
        if case .open(let until) = phase { expect(now >= until, "a machine that refuses calls is idle") }
    }
}
