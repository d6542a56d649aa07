/// The state of a ``CircuitBreaker`` for one origin. It is a value; the caller passes the time.
package struct CircuitMachine: Sendable {
    /// The decision about a request.
    package enum Answer: Equatable {
        case pass
        /// The only request that is sent, to find out whether the host works again.
        case probe
        case refuse(after: Duration)
    }

    package enum Judgement: Sendable {
        case success
        case failure
        /// The outcome says nothing about the host.
        case neither
    }

    private enum Phase: Equatable {
        case closed
        case open(until: Duration)
        case halfOpen(isProbing: Bool)
    }

    private struct Counts {
        var slice: Int64
        var calls = 0
        var failures = 0
    }

    let configuration: CircuitBreaker.Configuration
    private var phase = Phase.closed
    /// The counts of the slices of the window, the oldest first.
    private var counts: [Counts] = []
    /// The end of the newest slice.
    private var sliceEnd = Duration.zero
    private static let slices: Int64 = 10
    /// The length of a slice in nanoseconds.
    private let sliceLength: Int64

    package init(_ configuration: CircuitBreaker.Configuration = .init()) {
        self.configuration = configuration
        sliceLength = max(configuration.window.nanoseconds / CircuitMachine.slices, 1)
    }

    /// Whether the circuit is closed, so that every request is sent, whatever the time is.
    var isClosed: Bool { phase == .closed }

    /// Returns whether the machine may be removed: if it is closed and its counts have expired, if it has been ready
    /// for a probe for the length of the window, or if it is half open without a probe.
    func isIdle(at now: Duration) -> Bool {
        switch phase {
        case .closed: counts.last.map { $0.slice <= now.nanoseconds / sliceLength - CircuitMachine.slices } ?? true
        case .open(let until): until + configuration.window <= now
        case .halfOpen(let isProbing): !isProbing
        }
    }

    var state: CircuitBreaker.State {
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
        case .open, .halfOpen(isProbing: false):
            phase = .halfOpen(isProbing: true)
            return .probe
        case .halfOpen(isProbing: true):
            return .refuse(after: .zero)
        }
    }

    package mutating func leave(_ judgement: Judgement, wasProbe: Bool, at now: Duration) {
        if wasProbe {
            switch judgement {
            case .success: close()
            case .failure: phase = .open(until: now + configuration.pause)
            case .neither: phase = .halfOpen(isProbing: false)
            }
        } else if phase == .closed {
            count(judgement, at: now)
        }
    }

    private mutating func close() {
        phase = .closed
        counts = []
    }

    private mutating func count(_ judgement: Judgement, at now: Duration) {
        if case .neither = judgement { return }
        if counts.isEmpty || now >= sliceEnd { beginSlice(at: now) }
        counts[counts.count - 1].calls += 1
        guard case .failure = judgement else { return }
        counts[counts.count - 1].failures += 1
        let calls = counts.reduce(0) { $0 + $1.calls }
        let failures = counts.reduce(0) { $0 + $1.failures }
        if calls >= configuration.minimumCalls, Double(failures) >= configuration.failureRatio * Double(calls) {
            phase = .open(until: now + configuration.pause)
        }
    }

    private mutating func beginSlice(at now: Duration) {
        let slice = now.nanoseconds / sliceLength
        counts.removeAll { $0.slice <= slice - CircuitMachine.slices }
        counts.append(Counts(slice: slice))
        sliceEnd = .nanoseconds(slice * sliceLength) + .nanoseconds(sliceLength)
    }
}
