import Networking

// The steps of an attempt, in the order of the library's pipeline.
extension FleetRun {
    /// Asks the breaker, the gate and the session for admission. Then sends the request.
    mutating func send(_ attempt: FleetAttempt) {
        var attempt = attempt
        let client = Int(attempt.client)
        guard attempt.kind != .refresh else { return transmit(attempt) }
        if policy.breaker != nil {
            switch clients.circuits[client].enter(at: now) {
            case .pass: break
            case .probe: attempt.probe = Int32(clamping: clients.circuits[client].probes)
            case .refuse: return fail(attempt, with: .circuitOpen)
            }
            attempt.openings = Int32(clamping: clients.circuits[client].openings)
        }
        if policy.hasGate, let wait = waitAtGate(attempt) {
            returnProbe(&attempt)
            attempt.hasTurn = true
            return schedule(attempt, after: wait)
        }
        if !clients.sessions.isEmpty, attempt.kind == .call {
            guard passSession(&attempt) else { return }
        }
        transmit(attempt)
    }

    /// Returns the time until the request has its turn at the gate; nil if the request may leave now.
    private func waitAtGate(_ attempt: FleetAttempt) -> Duration? {
        let gate = clients.gates[Int(attempt.client)]
        let turn = attempt.hasTurn ? gate.opening : nil
        guard gate.holds(isRepeated: attempt.retries > 0, havingTurnOf: turn, at: now) else { return nil }
        let fraction = policy.gateSpread > 0 ? random.fraction() : 0
        return gate.turn(at: now, before: nil, fraction: fraction) - now
    }

    /// Releases the permit of a probe that was not sent.
    mutating func returnProbe(_ attempt: inout FleetAttempt) {
        guard attempt.probe > 0 else { return }
        clients.circuits[Int(attempt.client)].leave(.neither, probe: Int(attempt.probe), at: now)
        attempt.probe = 0
    }

    /// Handles a response. First the permits are released. Then the error handlers decide.
    mutating func receive(_ attempt: FleetAttempt) {
        var attempt = attempt
        guard attempt.kind != .refresh else { return endRefresh(attempt) }
        let client = Int(attempt.client)
        let mark = hear(attempt)
        if policy.hasGate, attempt.asked > 0 {
            _ = clients.gates[client].close(
                for: .seconds(Int(attempt.asked)), atMost: .seconds(60), spread: policy.gateSpread, at: now)
        }
        if policy.breaker != nil {
            let result = circuitOutcomes[Int(attempt.outcome.rawValue)]
            if attempt.probe > 0 {
                clients.circuits[client].leave(result, probe: Int(attempt.probe), at: now)
                attempt.probe = 0
            } else {
                clients.circuits[client].leave(result, admitted: Int(attempt.openings), at: now)
            }
        }
        if policy.hasBudget, let status = attempt.outcome.status { clients.budgets[client].record(status) }
        switch attempt.outcome {
        case .ok: succeed(attempt)
        case .unauthorized: refuse(attempt, mark)
        default: retry(attempt)
        }
    }

    private mutating func succeed(_ attempt: FleetAttempt) {
        if attempt.kind == .stream {
            outcome.closedStreams -= 1
            outcome.opened[step / FleetRun.stepsPerSecond] += 1
            return
        }
        outcome.ended += 1
        if step >= scenario.restored * FleetRun.stepsPerSecond { clients.serve(Int(attempt.client)) }
    }

    private mutating func retry(_ attempt: FleetAttempt) {
        guard let retry = policy.retry, retried[Int(attempt.outcome.rawValue)], attempt.retries < retry.retries else {
            return fail(attempt, with: attempt.outcome.kind)
        }
        let asked: Duration? = attempt.asked > 0 ? .seconds(Int(attempt.asked)) : nil
        let delay = retry.delay(
            after: RetryPolicy.History(retries: Int(attempt.retries)), asked: asked, using: random)
        if policy.hasBudget, !clients.budgets[Int(attempt.client)].spend() {
            return fail(attempt, with: attempt.outcome.kind)
        }
        var attempt = attempt
        attempt.retries += 1
        attempt.hasTurn = false
        schedule(attempt, after: delay)
    }

    /// Ends a call, or decides whether an event stream reconnects.
    mutating func fail(_ attempt: FleetAttempt, with kind: NetworkError.Kind) {
        guard attempt.kind == .stream else {
            outcome.failures += 1
            outcome.ended += 1
            return
        }
        var attempt = attempt
        let isWorthwhile =
            kind == .unacceptableStatus
            ? reconnection.statuses.contains(.serviceUnavailable)
            : reconnection.isWorthwhile(after: NetworkError(kind))
        guard isWorthwhile else {
            outcome.endedStreams += 1
            return
        }
        attempt.retries = 0
        attempt.hasTurn = false
        reconnect(attempt)
    }

    mutating func reconnect(_ attempt: FleetAttempt) {
        var attempt = attempt
        let wait = ReconnectionMachine.wait(
            for: reconnection.delay, afterEmpty: Int(attempt.emptyConnections),
            spread: policy.spreadsStreams ? random.fraction() : 0.5)
        attempt.emptyConnections += 1
        schedule(attempt, after: wait)
    }
}

extension FleetAttempt.Outcome {
    /// The kind of the library's error.
    fileprivate var kind: NetworkError.Kind {
        switch self {
        case .refused: .cannotConnect
        case .lost: .connectionLostBeforeHead
        default: .unacceptableStatus
        }
    }
}
