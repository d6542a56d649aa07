/// One transfer for which several calls may wait.
///
/// The transfer runs in its own task, so that it continues when the call of one caller ends. The transfer is cancelled
/// when its last caller leaves and there is no observer, or when another transfer replaces it.
final class SharedTransfer: Sendable {
    typealias Outcome = Result<HTTPResponse, any Error>

    typealias Waiter = Settlement<HTTPResponse>

    private enum Phase: Sendable {
        case running
        /// The transfer has its outcome.
        case finished
        /// The transfer was cancelled, because its last caller has left and there is no observer, or because another
        /// transfer replaced it.
        case abandoned
    }

    private struct State: Sendable {
        var phase = Phase.running
        var callers = Few<Waiter>()
        var observers: [@Sendable (Outcome) -> Void] = []
        var task: Task<Void, Never>?
        /// The timer that ends the wait of the observers.
        var timer: ScheduledAction?
        /// The permits that a call has handed over to the transfer.
        var admission: (any TransferAdmission)?

        var lacksAdmission: Bool { phase == .running && admission == nil }

        /// Ends the transfer, so that no further caller can attach. Returns the previous state, whose callers and
        /// observers must be notified; nil if the transfer had ended before.
        mutating func finish(_ phase: Phase) -> State? {
            guard self.phase == .running else { return nil }
            defer { self = State(phase: phase) }
            return self
        }
    }

    /// The key of the request that began the transfer.
    let key: DuplicateKey
    private let running: RunningTransfers
    private let state: Locked<State>

    init(_ key: DuplicateKey, in running: RunningTransfers, for beginner: Waiter) {
        self.key = key
        self.running = running
        state = Locked(State(callers: Few(beginner)))
    }

    /// Begins the transfer, unless all callers have left already.
    func begin(on base: any Transport) {
        guard state.withLock({ $0.phase == .running }) else { return }
        let task = start(on: base)
        let isUnwanted = state.withLock { state in
            if state.phase == .running { state.task = task }
            return state.phase == .abandoned
        }
        // If all callers left before the task existed, nothing has cancelled the task yet.
        if isUnwanted { task.cancel() }
    }

    /// Starts a task that is independent of the caller's task. If the system supports it, the task starts immediately
    /// on the caller's thread and runs there until it first suspends. Starting the task on another thread would take
    /// ten times as long, and is unnecessary for a task that never suspends.
    private func start(on base: any Transport) -> Task<Void, Never> {
        // The transfer continues after the deadline of the call that starts it.
        Deadline.$inherited.withValue(nil) {
            let position = CallScope.Position.current.map { position in position.scope.map { .beside($0) } ?? position }
            return CallScope.Position.$current.withValue(position) {
                #if compiler(>=6.2)
                    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                        return Task.immediate { [self] in await send(on: base) }
                    }
                #endif
                return Task { [self] in await send(on: base) }
            }
        }
    }

    /// Sends the request. A buffered body is read into memory, because a stream cannot have several readers.
    private func send(on base: any Transport) async {
        let outcome: Outcome
        do {
            var response = try await base.send(key.request, delivering: key.delivery)
            if case .buffered(let limit) = key.delivery, response.content.isPending(upTo: limit) {
                response = try await response.inMemory(upTo: limit)
            }
            response.decideRefusal()  // by the session that all callers share
            outcome = .success(response)
        } catch { outcome = .failure(error) }
        end(.finished, outcome)
    }

    /// Attaches a caller; returns nil if the transfer is over.
    ///
    /// - Parameter reason: The reason in the error that the earlier callers get; nil if the earlier callers stay
    ///   attached.
    func attach(superseding reason: String? = nil) -> Caller? {
        let waiter = Waiter()
        let superseded: Few<Waiter>? = state.withLock { state in
            guard state.phase == .running else { return nil }
            let before = reason == nil ? Few() : state.callers
            if reason != nil { state.callers = Few() }
            state.callers.append(waiter)
            return before
        }
        guard let superseded else { return nil }
        superseded.forEach { $0.settle(.failure(SharedTransfer.superseded(reason ?? ""))) }
        return Caller(joining: self, waiter)
    }

    /// Attaches an observer, which is called with the outcome. The transfer takes over the given permit. Returns false
    /// if the transfer is over.
    func observe(_ observer: @escaping @Sendable (Outcome) -> Void, at permit: (any TransferAdmission)?) -> Bool {
        let isThere = state.withLock { state in
            guard state.phase == .running else { return false }
            state.observers.append(observer)
            return true
        }
        guard isThere else { return false }
        take(permit)
        limitTime()
        return true
    }

    /// Limits the wait of the observers to the total time-out of the request, because the transfer may continue without
    /// a call whose deadline would end it.
    private func limitTime() {
        guard let total = key.request.timeouts.total, total > .zero else { return }
        let clock = key.request.parts.transfer?.clock ?? .continuous
        let timer = clock.schedule(at: clock.now() + total) { [weak self] in self?.passTimeLimit(of: total) }
        let isKept = state.withLock { state in
            guard state.phase == .running, state.timer == nil else { return false }
            state.timer = timer
            return true
        }
        if !isKept { timer.cancel() }
    }

    /// Detaches the observers, and cancels the transfer if no caller waits for it.
    private func passTimeLimit(of total: Duration) {
        let (observers, abandoned) = state.withLock { state in
            let observers = state.observers
            (state.observers, state.timer) = ([], nil)
            return (observers, state.callers.isEmpty ? state.finish(.abandoned) : nil)
        }
        let reason = "the transfer for an observer did not end within \(total.shortText)"
        let error = NetworkError(.deadlineTimedOut, reason: reason).completed(request: key.request, response: nil)
        if let abandoned { settle(abandoned, as: .abandoned, .failure(error)) }
        for observer in observers { observer(.failure(error.leavingCall())) }
    }

    /// Takes over a permit for the rest of the transfer. If the transfer is over or already has a permit, the call
    /// keeps its permit, and reports its own outcome when it releases the permit.
    private func take(_ permit: (any TransferAdmission)?) {
        guard let permit, state.withLock({ $0.lacksAdmission }), let kept = permit.handOver() else { return }
        let isTaken = state.withLock { state in
            guard state.lacksAdmission else { return false }
            state.admission = kept
            return true
        }
        if !isTaken { kept.end(after: nil) }
    }

    /// Ends the calls of all current callers with an error. The transfer continues.
    func supersede(_ reason: String) {
        let callers = state.withLock { state in
            defer { state.callers = Few() }
            return state.callers
        }
        callers.forEach { $0.settle(.failure(SharedTransfer.superseded(reason))) }
    }

    /// Cancels the transfer, and ends the calls of all its callers.
    func cancel(_ reason: String) {
        end(.abandoned, .failure(SharedTransfer.superseded(reason)))
    }

    /// Ends the transfer if no call waits for it. If the transfer continued, its observers would get the response of a
    /// user who has logged out.
    func reset() {
        guard let ended = state.withLock({ $0.callers.isEmpty ? $0.finish(.abandoned) : nil }) else { return }
        settle(ended, as: .abandoned, .failure(NetworkError(.resetting).completed(request: key.request, response: nil)))
    }

    /// Detaches one caller. When the last caller detaches and there is no observer, the transfer is cancelled.
    func detach(_ waiter: Waiter, leaving permit: (any TransferAdmission)?) {
        let abandoned: State? = state.withLock { state in
            state.callers.remove { $0.id == waiter.id }
            return state.callers.isEmpty && state.observers.isEmpty ? state.finish(.abandoned) : nil
        }
        guard let abandoned else { return take(permit) }
        settle(abandoned, as: .abandoned, .failure(NetworkError(.cancelled)))
    }

    private func end(_ phase: Phase, _ outcome: Outcome) {
        if let ended = state.withLock({ $0.finish(phase) }) { settle(ended, as: phase, outcome) }
    }

    /// - Parameter ended: The state of the transfer before it ended.
    private func settle(_ ended: State, as phase: Phase, _ outcome: Outcome) {
        running.remove(self)
        ended.timer?.cancel()
        if phase == .abandoned { ended.task?.cancel() }
        ended.admission?.end(after: outcome)
        ended.callers.forEach { $0.settle(outcome) }
        guard !ended.observers.isEmpty else { return }
        let kept = outcome.flatMap { $0.asSuccess() }.map { $0.leavingCall() }
            .mapError { ($0 as? NetworkError)?.leavingCall() ?? $0 }
        for observer in ended.observers { observer(kept) }
    }

    static let isReplaced = "a newer equal request replaced this one"

    static func superseded(_ reason: String) -> NetworkError {
        NetworkError(.cancelled, reason: reason)
    }
}

extension HTTPResponse {
    /// Returns the response as a success, unless it refuses the token of its session.
    fileprivate func asSuccess() -> SharedTransfer.Outcome {
        do {
            try checkRefusal()
            return .success(self)
        } catch {
            return .failure(NetworkError.wrapping(error).completed(request: request, response: withoutStream))
        }
    }
}
