/// A circuit breaker that stops requests to a host that fails too often, until a single request has shown that the host
/// works again.
///
/// For each origin, the breaker is in one of three states. Closed: requests are sent. Open: requests end at once with
/// ``NetworkError/Kind/circuitOpen``. Half open: after the pause, one request is sent as a probe. The head of its
/// response closes or opens the breaker. If no head arrives within the length of the pause, another request is sent as
/// a probe. Failures are responses with status 500 and above, refused and lost connections, timeouts, failed
/// handshakes, and incomplete or malformed responses. Responses with status below 400 are successes. Responses with
/// status 400 to 499, cancelled calls, an unavailable network and requests that were not sent count neither as failures
/// nor as successes. A token refresh is always sent. Use one breaker for all services of a server.
public final class CircuitBreaker: StagedAdmissionPolicy {
    /// The settings of a breaker.
    package struct Configuration: Hashable, Sendable {
        /// The share of failures, from 0 to 1, at which the breaker opens.
        package let failureRatio: Double
        /// The number of calls that the window must contain before the breaker may open.
        package let minimumCalls: Int
        /// The time for which a call counts.
        package let window: Duration
        /// The time for which the breaker stays open before it sends a probe.
        package let pause: Duration

        package init(failureRatio: Double, minimumCalls: Int, window: Duration, pause: Duration) {
            self.failureRatio = min(max(failureRatio, 0), 1)
            self.minimumCalls = max(minimumCalls, 1)
            self.window = max(window, .milliseconds(10))
            self.pause = pause
        }
    }

    /// Whether requests to an origin are sent.
    public enum State: Hashable, Sendable {
        /// Requests are sent.
        case closed
        /// Requests end at once.
        case open
        /// One request at a time is sent as a probe.
        case halfOpen
    }

    /// The context of a permit. A permit has a context if it belongs to a probe, or if the circuit had already opened
    /// at least once when the call was admitted.
    private struct Admission: Sendable {
        /// The number of a probe whose outcome is still open; nil for a call that is not a probe.
        let probe: Locked<Int?>?
        /// The number of times that the circuit had opened when the call was admitted.
        let openings: Int
    }

    /// The broadcaster of the changes of state.
    public let events = Broadcaster<AdmissionEvent>()
    private let configuration: Configuration
    private let clock: NetworkClock
    private let machines = Locked(OriginTable<CircuitMachine>())

    /// Creates a breaker that is closed for every origin.
    ///
    /// - Parameters:
    ///   - failureRatio: The share of failures, from 0 to 1, at which the breaker opens. Default: 0.5.
    ///   - minimumCalls: The number of calls that the window must contain before the breaker may open. Default: 10.
    ///   - window: The time for which a call counts. Default: 10 seconds.
    ///   - pause: The time for which the breaker stays open before it sends a probe. Default: 30 seconds.
    ///   - clock: The clock that measures the window and the pause. Default: the system's clock.
    public init(
        failureRatio: Double = 0.5, minimumCalls: Int = 10, window: Duration = .seconds(10),
        pause: Duration = .seconds(30), clock: NetworkClock = .continuous
    ) {
        configuration = Configuration(
            failureRatio: failureRatio, minimumCalls: minimumCalls, window: window, pause: pause)
        self.clock = clock
    }

    package var stage: AdmissionStage { .breaker }

    /// Returns whether requests to an origin are sent.
    public func state(of origin: HTTPOrigin) -> State { machines.withLock { $0[origin]?.state } ?? .closed }

    /// The origins in the table.
    var origins: [HTTPOrigin] { machines.withLock { $0.values.keys.sorted { "\($0)" < "\($1)" } } }

    /// The number of origins in the table.
    var knownOrigins: Int { machines.withLock { $0.count } }

    /// Returns a permit if the breaker is closed, or if the request becomes a probe.
    ///
    /// - Throws: ``NetworkError/Kind/circuitOpen``.
    public func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) throws -> AdmissionPermit? {
        guard let origin = request.origin else { return AdmissionPermit() }
        let closed: Int? = machines.withLock { machines in
            guard let machine = machines[origin] else { return 0 }
            return machine.isClosed ? machine.openings : nil
        }
        if let closed { return permit(for: origin, openings: closed) }
        let now = clock.now()
        let (answer, machine) = change(origin, at: now) { ($0.enter(at: now), $0) }
        switch answer {
        case .pass: return permit(for: origin, openings: machine.openings)
        case .probe: return permit(for: origin, probe: machine.probes, openings: machine.openings)
        case .refuse(let wait):
            let words =
                wait > .zero
                ? "try again in \(wait.shortText)" : "another request is testing whether the host works again"
            throw NetworkError(
                .circuitOpen, reason: "\(origin) has failed too often recently; \(words)", request: request)
        }
    }

    /// Creates a permit. Most circuits never open. Their permits have no context, because a context needs an
    /// allocation.
    private func permit(for origin: HTTPOrigin, probe: Int? = nil, openings: Int) -> AdmissionPermit {
        guard openings > 0 else { return AdmissionPermit(for: origin) }  // there is no probe before the first opening
        return AdmissionPermit(for: origin, context: Admission(probe: probe.map { Locked($0) }, openings: openings))
    }

    /// Never waits: it returns a permit or throws an error.
    public func enter(_ request: HTTPRequest, for endpoint: any Endpoint) throws -> AdmissionPermit {
        try tryEnter(request, for: endpoint) ?? AdmissionPermit()
    }

    /// Counts the outcome of a probe when the head of its response arrives, so that other requests are not refused
    /// while a slow body arrives.
    public func heard(_ permit: AdmissionPermit, _ head: HTTPResponse) {
        guard let origin = permit.origin, let probe = (permit.context as? Admission)?.probe?.take() else { return }
        var outcome = CircuitMachine.Outcome(head.status)
        if head.request.origin != origin { outcome = head.request.parts.upload == nil ? .success : .neither }
        let now = clock.now()
        change(origin, at: now) { $0.leave(outcome, probe: probe, at: now) }
    }

    /// Counts the outcome of the request, unless the request is a probe whose outcome was counted when the head
    /// arrived. If the host redirected the request to another origin, the redirect counts as a success of the host. The
    /// outcome does not count for the other origin. Otherwise, a host could open the circuit of another host by
    /// redirecting requests to a path that fails there. An upload that continues at another origin says nothing about
    /// the host.
    public func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {
        guard let origin = permit.origin else { return }
        let admission = permit.context as? Admission
        let now = clock.now()
        let own = outcome.about(origin)
        if let open = admission?.probe {
            guard let probe = open.take() else { return }
            change(origin, at: now) { $0.leave(own, probe: probe, at: now) }
        } else {
            change(origin, at: now) { $0.leave(own, admitted: admission?.openings ?? 0, at: now) }
        }
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
                if isChanged { events.enqueue(.circuit(origin, machine.state)) }
                return (result, isChanged)
            }
        }
        if isChanged { events.deliver() }
        return result
    }
}

extension Locked<Int?> {
    /// Sets the value to nil, and returns the earlier value.
    fileprivate func take() -> Int? {
        withLock { value in
            defer { value = nil }
            return value
        }
    }
}

extension AdmissionPermit.Outcome {
    /// Returns what the outcome says about the host to which the request was admitted.
    fileprivate func about(_ home: HTTPOrigin) -> CircuitMachine.Outcome {
        let (known, request, first): (CircuitMachine.Outcome, HTTPRequest?, HTTPResponse?)
        switch self {
        case .responded(let response):
            (known, request, first) = (.init(response.status), response.request, response.redirects.first)
        case .failed(let error):
            let error = NetworkError.wrapping(error)
            // A response says more about the host than the kind of the error.
            let refused = error.kind == .notProcessed ? error.response : nil
            (request, first) = (error.request, error.redirects.first)
            known = refused.map { .init($0.status) } ?? .init(error.kind)
        case .notSent:
            return .neither
        }
        guard let request, request.origin != home else { return known }
        // An upload may have begun at another origin, whose redirects say nothing about the host.
        guard request.parts.upload != nil else { return first == nil ? known : .success }
        return first?.request.origin == home ? .success : .neither
    }
}

extension CircuitMachine.Outcome {
    /// Creates the outcome for the host from the status of its response.
    package init(_ status: HTTPStatus) {
        self = status.code >= 500 ? .failure : status.code < 400 ? .success : .neither
    }

    /// Creates the outcome for the host from the error of an attempt without a complete response.
    package init(_ kind: NetworkError.Kind) {
        let aboutTheHost: Set<NetworkError.Kind> = [
            .cannotConnect, .connectionLostBeforeHead, .connectionLostAfterHead, .connectTimedOut, .idleTimedOut,
            .deadlineTimedOut, .tlsFailed, .truncatedBody, .malformedResponse, .undecodableContent, .notProcessed,
        ]
        self = aboutTheHost.contains(kind) ? .failure : .neither
    }
}

/// A change of a policy for an origin. ``BackoffGate/events`` reports the changes of a gate. ``CircuitBreaker/events``
/// reports the changes of a breaker.
public enum AdmissionEvent: Hashable, Sendable {
    /// A gate has closed, and opens again after this time. Until then, requests wait or end at once (``BackoffGate``).
    case gateClosed(HTTPOrigin, for: Duration)
    /// A gate has opened, because the time has passed. This event is reported when the next request is sent.
    case gateOpened(HTTPOrigin)
    /// The state of a breaker has changed. The value is the new state.
    case circuit(HTTPOrigin, CircuitBreaker.State)
}
