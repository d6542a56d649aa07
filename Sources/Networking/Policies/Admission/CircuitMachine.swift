/// The state of a ``CircuitBreaker`` for one origin. It is a value without a clock: the caller passes the current time.
package struct CircuitMachine: Sendable {
    /// What the circuit does with a request.
    package enum Answer: Equatable, Sendable {
        case pass
        /// The only request that is sent, to find out whether the host works again.
        case probe
        case refuse(after: Duration)
    }

    package enum Outcome: Sendable {
        case success
        case failure
        /// The outcome says nothing about the host.
        case neither
    }

    package enum Phase: Equatable, Sendable {
        case closed
        case open(until: Duration)
        case halfOpen(isProbing: Bool)
    }

    package struct Counts: Sendable {
        package let slice: Int64
        package fileprivate(set) var calls = 0
        package fileprivate(set) var failures = 0
    }

    let configuration: CircuitBreaker.Configuration
    package private(set) var phase = Phase.closed
    /// The counts of the slices of the window, the oldest first.
    package private(set) var counts: [Counts] = []
    /// The number of times that the circuit has opened. The outcome of a call that was admitted before the circuit last
    /// opened does not count.
    package private(set) var openings = 0
    /// The number of probes so far. The success of any probe counts. Any other outcome counts only if it is the outcome
    /// of the last probe.
    package private(set) var probes = 0
    /// The time from which the next probe may begin, even if the last probe is still in progress.
    private var nextProbe = Duration.zero
    /// The end of the newest slice.
    private var sliceEnd = Duration.zero
    private static let slices: Int64 = 10
    /// The length of a slice in nanoseconds.
    private let sliceLength: Int64

    package init(_ configuration: CircuitBreaker.Configuration) {
        self.configuration = configuration
        sliceLength = max(configuration.window.nanoseconds / CircuitMachine.slices, 1)
    }

    /// Whether the circuit is closed. A closed circuit sends every request at any time.
    package var isClosed: Bool { phase == .closed }

    /// Returns whether the machine may be removed. A closed machine may be removed if its counts have expired. An open
    /// machine may be removed if it has been ready for a probe for the length of the window. A half-open machine may be
    /// removed if no probe is in progress.
    package func isIdle(at now: Duration) -> Bool {
        switch phase {
        case .closed: counts.last.map { $0.slice <= now.nanoseconds / sliceLength - CircuitMachine.slices } ?? true
        case .open(let until): until + configuration.window <= now
        case .halfOpen(let isProbing): !isProbing
        }
    }

    package var state: CircuitBreaker.State {
        switch phase {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }

    package mutating func enter(at now: Duration) -> Answer {
        switch phase {
        case .closed:
            return .pass
        case .open(let until) where now < until:
            return .refuse(after: until - now)
        case .halfOpen(isProbing: true) where now < nextProbe:
            return .refuse(after: .zero)
        case .open, .halfOpen:
            phase = .halfOpen(isProbing: true)
            nextProbe = now + configuration.pause
            probes += 1
            return .probe
        }
    }

    /// Counts the outcome of a call.
    ///
    /// - Parameter admitted: The value of ``openings`` when the call was admitted.
    package mutating func leave(_ outcome: Outcome, admitted: Int, at now: Duration) {
        if phase == .closed, admitted == openings { count(outcome, at: now) }
    }

    /// Counts the outcome of a probe.
    ///
    /// - Parameter probe: The value of ``probes`` when the probe was admitted.
    package mutating func leave(_ outcome: Outcome, probe: Int, at now: Duration) {
        guard case .halfOpen = phase else { return }
        switch outcome {
        case .success: close()
        case .failure where probe == probes: open(at: now)
        case .neither where probe == probes: phase = .halfOpen(isProbing: false)
        case .failure, .neither: break  // a later probe decides
        }
    }

    private mutating func open(at now: Duration) {
        phase = .open(until: now + configuration.pause)
        openings += 1
    }

    private mutating func close() {
        phase = .closed
        counts = []
    }

    private mutating func count(_ outcome: Outcome, at now: Duration) {
        if case .neither = outcome { return }
        if counts.isEmpty || now >= sliceEnd { beginSlice(at: now) }
        counts[counts.count - 1].calls += 1
        guard case .failure = outcome else { return }
        counts[counts.count - 1].failures += 1
        let calls = counts.reduce(0) { $0 + $1.calls }
        let failures = counts.reduce(0) { $0 + $1.failures }
        if calls >= configuration.minimumCalls, Double(failures) >= configuration.failureRatio * Double(calls) {
            open(at: now)
        }
    }

    private mutating func beginSlice(at now: Duration) {
        let slice = now.nanoseconds / sliceLength
        counts.removeAll { $0.slice <= slice - CircuitMachine.slices }
        counts.append(Counts(slice: slice))
        sliceEnd = .nanoseconds(slice * sliceLength) + .nanoseconds(sliceLength)
    }
}
