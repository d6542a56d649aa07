/// One transfer for which several calls may wait.
///
/// It runs in a task of its own, so that no caller's end is its end: only when the last one has left is it cancelled.
final class SharedTransfer: Sendable {
    typealias Outcome = Result<HTTPResponse, any Error>

    private typealias Waiter = Settlement<HTTPResponse>

    private enum Phase: Sendable {
        case running
        /// It has its outcome.
        case answered
        /// Nobody wants it any more.
        case abandoned
    }

    private struct State: Sendable {
        var phase = Phase.running
        var callers = Few<Waiter>()
        var observers: [@Sendable (Outcome) -> Void] = []
        var task: Task<Void, Never>?
        /// The place of a caller who has left the transfer to others.
        var place: (any TransferPermit)?

        var lacksPermit: Bool { phase == .running && place == nil }

        /// Nobody can attach any more: hands over what is to be ended.
        mutating func finish(_ phase: Phase) -> State? {
            guard self.phase == .running else { return nil }
            defer { self = State(phase: phase) }
            return self
        }
    }

    /// What it is known by: the request that began it, and how its response is wanted.
    let key: DuplicateKey
    private let running: RunningTransfers
    private let state: Locked<State>

    private init(_ key: DuplicateKey, in running: RunningTransfers, for beginner: Waiter) {
        self.key = key
        self.running = running
        state = Locked(State(callers: Few(beginner)))
    }

    /// Begins the transfer, unless everybody has left by now.
    func begin(on base: any Transport) {
        guard state.withLock({ $0.phase == .running }) else { return }
        let task = start(on: base)
        let isUnwanted = state.withLock { state in
            if state.phase == .running { state.task = task }
            return state.phase == .abandoned
        }
        // Everybody may have left before the task was there to be cancelled.
        if isUnwanted { task.cancel() }
    }

    /// Starts a task that the end of the caller does not end: at once on the caller's thread, up to its first wait,
    /// where the system can. A task that is handed to another thread costs ten times as much, and one that never waits
    /// need not be.
    private func start(on base: any Transport) -> Task<Void, Never> {
        CallPosition.$current.withValue(CallPosition.current.map { $0.scope.map { .beside($0) } ?? $0 }) {
            #if compiler(>=6.2)
                if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                    return Task.immediate { [self] in await send(on: base) }
                }
            #endif
            return Task { [self] in await send(on: base) }
        }
    }

    /// A body that is pulled has one reader: for several callers it is brought into memory.
    private func send(on base: any Transport) async {
        let outcome: Outcome
        do {
            var response = try await base.send(key.request, delivering: key.delivery)
            if case .buffered(let limit) = key.delivery, response.content.isPending(upTo: limit) {
                response = try await response.collected(upTo: limit)
            }
            outcome = .success(response)
        } catch { outcome = .failure(error) }
        end(.answered, outcome)
    }

    /// Adds a caller; nil if the transfer is over.
    ///
    /// - Parameter reason: Why the callers so far end; nil if they stay.
    func attach(superseding reason: String? = nil) -> Caller? {
        let turn = Waiter()
        let superseded: Few<Waiter>? = state.withLock { state in
            guard state.phase == .running else { return nil }
            let before = reason == nil ? Few() : state.callers
            if reason != nil { state.callers = Few() }
            state.callers.append(turn)
            return before
        }
        guard let superseded else { return nil }
        superseded.forEach { $0.settle(.failure(SharedTransfer.superseded(reason ?? ""))) }
        return Caller(joining: self, turn)
    }

    /// Calls a closure with the outcome, and keeps the permit of the request that it was given for; false if the
    /// transfer is over.
    func observe(_ observer: @escaping @Sendable (Outcome) -> Void, at place: (any TransferPermit)?) -> Bool {
        let isThere = state.withLock { state in
            guard state.phase == .running else { return false }
            state.observers.append(observer)
            return true
        }
        if isThere { take(place) }
        return isThere
    }

    /// Keeps a place for the rest of the transfer, unless that is over or has one: then it stays with its caller, who
    /// tells how the call ended.
    private func take(_ place: (any TransferPermit)?) {
        guard let place, state.withLock({ $0.lacksPermit }), let kept = place.handOver() else { return }
        let isTaken = state.withLock { state in
            guard state.lacksPermit else { return false }
            state.place = kept
            return true
        }
        if !isTaken { kept.release(after: nil) }
    }

    /// Ends every caller so far, and goes on.
    func supersede(_ reason: String) {
        let callers = state.withLock { state in
            defer { state.callers = Few() }
            return state.callers
        }
        callers.forEach { $0.settle(.failure(SharedTransfer.superseded(reason))) }
    }

    /// Ends the transfer with everybody who waits for it.
    func cancel(_ reason: String) {
        end(.abandoned, .failure(SharedTransfer.superseded(reason)))
    }

    /// One caller leaves; the last one takes the transfer along.
    private func detach(_ turn: Waiter, leaving place: (any TransferPermit)?) {
        let abandoned: State? = state.withLock { state in
            state.callers.remove { $0.id == turn.id }
            return state.callers.isEmpty && state.observers.isEmpty ? state.finish(.abandoned) : nil
        }
        guard let abandoned else { return take(place) }
        settle(abandoned, as: .abandoned, .failure(NetworkError(.cancelled)))
    }

    private func end(_ phase: Phase, _ outcome: Outcome) {
        if let ended = state.withLock({ $0.finish(phase) }) { settle(ended, as: phase, outcome) }
    }

    /// - Parameter ended: What it was until now.
    private func settle(_ ended: State, as phase: Phase, _ outcome: Outcome) {
        running.remove(self)
        if phase == .abandoned { ended.task?.cancel() }
        ended.place?.release(after: outcome)
        ended.callers.forEach { $0.settle(outcome) }
        for observer in ended.observers { observer(outcome) }
    }

    static let isReplaced = "a newer equal request took its place"

    static func superseded(_ reason: String) -> NetworkError {
        NetworkError(.cancelled, reason: reason)
    }

    /// One who waits for a transfer.
    struct Caller: Sendable {
        let transfer: SharedTransfer
        fileprivate let turn: Settlement<HTTPResponse>
        private let isBeginner: Bool

        /// Makes a transfer, with the caller who begins it.
        ///
        /// - Parameter running: Is told to forget it once nobody can attach any more, before anybody is answered.
        init(beginning key: DuplicateKey, in running: RunningTransfers) {
            turn = Waiter()
            transfer = SharedTransfer(key, in: running, for: turn)
            isBeginner = true
        }

        fileprivate init(joining transfer: SharedTransfer, _ turn: Settlement<HTTPResponse>) {
            self.transfer = transfer
            self.turn = turn
            isBeginner = false
        }

        /// Stops waiting, before it has begun to.
        func leave() {
            transfer.detach(turn, leaving: nil)
        }

        /// The response, with the caller's own options in place of those of the one who began.
        func response(to request: HTTPRequest) async throws -> HTTPResponse {
            do { return own(try await turn.value(), to: request) } catch { throw left(with: error, request) }
        }

        private func own(_ answer: HTTPResponse, to request: HTTPRequest) -> HTTPResponse {
            guard !isBeginner else { return answer }
            var response = answer
            let isElsewhere = response.request.origin != request.origin
            response.request.options = request.options
            if isElsewhere { response.request.options.removeSensitive() }
            return response
        }

        /// Not inlined: what is big must not become part of the function that waits, whose memory each waiting call
        /// keeps.
        @inline(never)
        private func left(with error: any Error, _ request: HTTPRequest) -> any Error {
            transfer.detach(turn, leaving: CallScope.currentPermit)
            return (error as? NetworkError)?.completed(request: request, response: nil) ?? error
        }
    }
}
