/// Sends nothing more to a host that fails too often, until a single request has shown that it works again.
///
/// For each origin it is closed (requests are sent), open (they end at once with ``NetworkError/Kind/circuitOpen``) or
/// half open: after the pause one request is sent as a probe, whose outcome closes or opens it. Failures are responses
/// with status 500 and above, refused and lost connections, timeouts, failed handshakes, and incomplete or malformed
/// responses. Responses below 400 are successes. Responses of 400 to 499, cancelled calls, an unavailable network and
/// requests that were not sent count as neither. A token refresh is always sent. Services of the same server share the
/// object.
public final class CircuitBreaker: StagedAdmissionPolicy {
    /// When a breaker opens, and for how long.
    struct Configuration: Hashable, Sendable {
        /// The share of failures, from 0 to 1, at which it opens.
        var failureRatio: Double
        /// How many calls the window must have seen before it may.
        var minimumCalls: Int
        /// How far back calls count.
        var window: Duration
        /// How long it stays open before a probe goes.
        var pause: Duration

        init(
            failureRatio: Double = 0.5, minimumCalls: Int = 10, window: Duration = .seconds(10),
            pause: Duration = .seconds(30)
        ) {
            self.failureRatio = min(max(failureRatio, 0), 1)
            self.minimumCalls = max(minimumCalls, 1)
            self.window = max(window, .milliseconds(10))
            self.pause = pause
        }
    }

    /// Whether requests to an origin go.
    public enum State: Hashable, Sendable {
        /// They go.
        case closed
        /// They end at once.
        case open
        /// One at a time goes as a probe.
        case halfOpen
    }

    /// What a breaker tells about an origin.
    public struct Event: Hashable, Sendable {
        /// The origin.
        public let origin: HTTPOrigin
        /// What it changed to.
        public let state: State
    }

    /// What the permit of a probe carries.
    private struct Probe: Sendable {}

    /// Tells of every change.
    public let events = Broadcaster<Event>()
    private let configuration: Configuration
    private let clock: NetworkClock
    private let machines = Locked(OriginTable<CircuitMachine>())

    /// Makes a breaker, closed for every origin.
    ///
    /// - Parameters:
    ///   - failureRatio: The share of failures, from 0 to 1, at which it opens. Default: 0.5.
    ///   - minimumCalls: How many calls the window must contain before it may open. Default: 10.
    ///   - window: For how long a call counts. Default: 10 seconds.
    ///   - pause: How long it stays open before it lets a probe through. Default: 30 seconds.
    ///   - clock: Measures the window and the pause. Default: the system's clock.
    public init(
        failureRatio: Double = 0.5, minimumCalls: Int = 10, window: Duration = .seconds(10),
        pause: Duration = .seconds(30), clock: NetworkClock = .continuous
    ) {
        configuration = Configuration(
            failureRatio: failureRatio, minimumCalls: minimumCalls, window: window, pause: pause)
        self.clock = clock
    }

    var stage: AdmissionStage { .breaker }

    /// Whether requests to an origin go.
    public func state(of origin: HTTPOrigin) -> State { machines.withLock { $0[origin]?.state } ?? .closed }

    /// How many origins it knows something about.
    var knownOrigins: Int { machines.withLock { $0.count } }

    /// Lets the request through where the breaker is closed, or as a probe.
    ///
    /// - Throws: ``NetworkError/Kind/circuitOpen``.
    public func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) throws -> AdmissionPermit? {
        guard let origin = request.origin else { return AdmissionPermit() }
        if machines.withLock({ $0[origin]?.isClosed ?? true }) {
            return AdmissionPermit(for: origin)
        }
        let now = clock.now()
        switch change(origin, at: now, { $0.enter(at: now) }) {
        case .pass: return AdmissionPermit(for: origin)
        case .probe: return AdmissionPermit(for: origin, context: Probe())
        case .refuse(let wait):
            let words =
                wait > .zero
                ? "try again in \(wait.shortText)" : "another request is finding out whether it works again"
            throw NetworkError(
                .circuitOpen, reason: "\(origin) has failed too often of late; \(words)", request: request)
        }
    }

    /// Never waits: it lets the request through or ends it.
    public func enter(_ request: HTTPRequest, for endpoint: any Endpoint) throws -> AdmissionPermit {
        try tryEnter(request, for: endpoint) ?? AdmissionPermit()
    }

    /// Hears how the request ended. A host that led elsewhere has answered; what came of it is the other one's doing.
    public func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {
        guard let origin = permit.origin else { return }
        let wasProbe = permit.context is Probe
        let now = clock.now()
        let (judgement, target) = outcome.judgement
        guard let target, target != origin else {
            return change(origin, at: now) { $0.leave(judgement, wasProbe: wasProbe, at: now) }
        }
        change(origin, at: now) { $0.leave(.success, wasProbe: wasProbe, at: now) }
        change(target, at: now) { $0.leave(judgement, wasProbe: false, at: now) }
    }

    @discardableResult
    private func change<Result>(_ origin: HTTPOrigin, at now: Duration, _ body: (inout CircuitMachine) -> Result)
        -> Result
    {
        let (result, isChanged) = machines.withLock { machines in
            machines.makeRoom(for: origin) { !$0.isIdle(at: now) }
            return machines.change(origin, from: CircuitMachine(configuration)) { machine in
                let before = machine.state
                let result = body(&machine)
                let isChanged = machine.state != before
                if isChanged { events.enqueue(Event(origin: origin, state: machine.state)) }
                return (result, isChanged)
            }
        }
        if isChanged { events.deliver() }
        return result
    }
}

extension AdmissionPermit.Outcome {
    /// What the end of a request tells, and about which host where a redirect led to it.
    fileprivate var judgement: (CircuitMachine.Judgement, ofTarget: HTTPOrigin?) {
        switch self {
        case .answered(let response):
            let code = response.status.code
            return (
                code >= 500 ? .failure : code < 400 ? .success : .neither,
                response.redirects.isEmpty ? nil : response.request.origin
            )
        case .failed(let error):
            let error = NetworkError.wrapping(error)
            return (CircuitMachine.Judgement(error.kind), error.redirects.isEmpty ? nil : error.request?.origin)
        case .notSent:
            return (.neither, nil)
        }
    }
}

extension CircuitMachine.Judgement {
    fileprivate init(_ kind: NetworkError.Kind) {
        let aboutTheHost: Set<NetworkError.Kind> = [
            .cannotConnect, .connectionLostBeforeHead, .connectionLostAfterHead, .connectTimedOut, .idleTimedOut,
            .deadlineTimedOut, .tlsFailed, .truncatedBody, .malformedResponse,
            .undecodableContent,
        ]
        self = aboutTheHost.contains(kind) ? .failure : .neither
    }
}
