/// What a ``CircuitBreaker`` knows of one origin: a pure value, told the time.
struct CircuitMachine: Sendable {
    /// Whether requests go.
    enum Answer: Equatable {
        case pass
        /// As the only one, to see whether the host works again.
        case probe
        case refuse(after: Duration)
    }

    enum Judgement {
        case success
        case failure
        /// It tells nothing about the host.
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
    /// The window in slices, the oldest first.
    private var counts: [Counts] = []
    /// When the newest of them is over.
    private var sliceEnd = Duration.zero
    private static let slices: Int64 = 10
    /// In nanoseconds.
    private let sliceLength: Int64

    init(_ configuration: CircuitBreaker.Configuration) {
        self.configuration = configuration
        sliceLength = max(configuration.window.nanoseconds / CircuitMachine.slices, 1)
    }

    /// Whether requests go, whatever time it is.
    var isClosed: Bool { phase == .closed }

    /// Whether its counts have expired: no request was made for longer than its window.
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

    mutating func enter(at now: Duration) -> Answer {
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

    mutating func leave(_ judgement: Judgement, wasProbe: Bool, at now: Duration) {
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
