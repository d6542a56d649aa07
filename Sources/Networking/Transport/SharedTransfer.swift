/// One transfer for which several calls may wait.
///
/// It runs in a task of its own, so that no caller's end is its end: only when the last one has left is it cancelled.
final class SharedTransfer: Sendable {
    typealias Outcome = Result<HTTPResponse, any Error>

    private struct State: Sendable {
        var callers: [(id: UInt64, turn: Settlement<HTTPResponse>)] = []
        var nextID: UInt64 = 0
        var observers: [@Sendable (Outcome) -> Void] = []
        var task: Task<Void, Never>?
        /// The place of a caller who has left the transfer to others.
        var place: (any HeldPlace)?
        var isOver = false

        /// Nobody can attach any more: hands over what is to be ended.
        mutating func finish() -> State? {
            guard !isOver else { return nil }
            defer { self = State(isOver: true) }
            return self
        }
    }

    /// The request that began it.
    let request: HTTPRequest
    /// How its answer is wanted.
    let timing: AnswerTiming
    private let onEnd: @Sendable (SharedTransfer) -> Void
    private let state = Locked(State())

    /// - Parameter onEnd: Is called once, when nobody can attach any more and before anybody is answered.
    init(_ request: HTTPRequest, answering timing: AnswerTiming, onEnd: @escaping @Sendable (SharedTransfer) -> Void) {
        self.request = request
        self.timing = timing
        self.onEnd = onEnd
    }

    /// Begins the transfer, unless everybody has left by now.
    func begin(on base: any Transport) {
        guard !state.withLock({ $0.isOver }) else { return }
        let task = DetachedStart.run { [self] in
            let outcome: Outcome
            do { outcome = .success(try await send(on: base)) } catch { outcome = .failure(error) }
            end(outcome)
        }
        let isUnwanted = state.withLock { state in
            state.task = state.isOver ? nil : task
            return state.isOver
        }
        // Everybody may have left before the task was there to be cancelled.
        if isUnwanted { task.cancel() }
    }

    /// A body that is pulled has one reader: for several callers it is brought into memory.
    private func send(on base: any Transport) async throws -> HTTPResponse {
        var response = try await base.send(request, answering: timing)
        if case .whenComplete(let limit) = timing, response.content.isPending(upTo: limit) {
            response = try await response.collected(upTo: limit)
        }
        return response
    }

    /// Adds a caller; nil where the transfer is over.
    ///
    /// - Parameter reason: Why the callers so far end; nil where they stay.
    func attach(superseding reason: String? = nil) -> Caller? {
        let turn = Settlement<HTTPResponse>()
        let (caller, superseded): (Caller?, [(id: UInt64, turn: Settlement<HTTPResponse>)]) = state.withLock { state in
            guard !state.isOver else { return (nil, []) }
            let before = reason == nil ? [] : state.callers
            if reason != nil { state.callers = [] }
            defer { state.nextID += 1 }
            state.callers.append((state.nextID, turn))
            return (Caller(transfer: self, id: state.nextID, turn: turn), before)
        }
        for earlier in superseded { earlier.turn.settle(.failure(SharedTransfer.superseded(reason ?? ""))) }
        return caller
    }

    /// Has a closure told of the outcome, with the place of the request in whose name it was given; false where the transfer is over.
    func observe(_ observer: @escaping @Sendable (Outcome) -> Void, at place: (any HeldPlace)?) -> Bool {
        let isThere = state.withLock { state in
            guard !state.isOver else { return false }
            state.observers.append(observer)
            return true
        }
        if isThere { take(place) }
        return isThere
    }

    /// Keeps a place for the rest of the transfer, unless it has one.
    private func take(_ place: (any HeldPlace)?) {
        guard let kept = place?.handOver() else { return }
        let isTaken = state.withLock { state in
            guard !state.isOver, state.place == nil else { return false }
            state.place = kept
            return true
        }
        if !isTaken { kept.giveBack(after: nil) }
    }

    /// Ends every caller so far, and goes on.
    func supersede(_ reason: String) {
        let callers = state.withLock { state in
            defer { state.callers = [] }
            return state.callers
        }
        for caller in callers { caller.turn.settle(.failure(SharedTransfer.superseded(reason))) }
    }

    /// Ends the transfer with everybody who waits for it.
    func cancel(_ reason: String) {
        end(.failure(SharedTransfer.superseded(reason)))
    }

    /// One caller leaves; the last one takes the transfer along.
    fileprivate func detach(_ id: UInt64, leaving place: (any HeldPlace)?) {
        let abandoned: State? = state.withLock { state in
            state.callers.removeAll { $0.id == id }
            return state.callers.isEmpty && state.observers.isEmpty ? state.finish() : nil
        }
        if let abandoned { settle(abandoned, .failure(NetworkError(.cancelled))) } else { take(place) }
    }

    private func end(_ outcome: Outcome) {
        if let ended = state.withLock({ $0.finish() }) { settle(ended, outcome) }
    }

    private func settle(_ ended: State, _ outcome: Outcome) {
        onEnd(self)
        ended.task?.cancel()
        ended.place?.giveBack(after: outcome)
        for caller in ended.callers { caller.turn.settle(outcome) }
        for observer in ended.observers { observer(outcome) }
    }

    static let isReplaced = "a newer equal request took its place"

    static func superseded(_ reason: String) -> NetworkError {
        NetworkError(.cancelled, reason: reason)
    }

    /// One who waits for a transfer.
    struct Caller: Sendable {
        let transfer: SharedTransfer
        fileprivate let id: UInt64
        fileprivate let turn: Settlement<HTTPResponse>

        /// Stops waiting, before it has begun to.
        func leave() {
            transfer.detach(id, leaving: nil)
        }

        /// The answer, with the caller's own options in place of those of the one who began.
        func response(to request: HTTPRequest) async throws -> HTTPResponse {
            do {
                var response = try await turn.value()
                if id == 0 { return response }  // it began the transfer: the request is its own
                let isElsewhere = response.request.origin != request.origin
                response.request.options = request.options
                if isElsewhere { response.request.options.removeSensitive() }
                return response
            } catch {
                transfer.detach(id, leaving: request[option: HeldPlaceOption.self])
                guard let error = error as? NetworkError else { throw error }
                throw error.completed(request: request, response: nil)
            }
        }
    }
}
