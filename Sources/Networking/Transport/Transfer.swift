import Foundation

/// One exchange in an engine: takes what comes from the wire and settles the answer once.
///
/// It knows no engine. An engine tells it of heads, bytes and the end, from whatever thread it uses, and ends the exchange when bytes are
/// not wanted any more: the caller or the reader has left, or a bound was passed.
final class Transfer: Sendable {
    private struct Head: Sendable {
        let status: HTTPStatus
        let headers: HTTPHeaders
    }

    private struct State: Sendable {
        var head: Head?
        var body = Data()
        var timing = ResponseTiming()
        var lastActivity: ContinuousClock.Instant
    }

    let request: HTTPRequest
    private let answer = Settlement<HTTPResponse>()
    private let limit: Int?
    private let pipe: BytePipe
    private let start = ContinuousClock.now
    private let state: Locked<State>

    /// - Parameters:
    ///   - request: What is sent.
    ///   - timing: When the answer is wanted.
    ///   - capacity: How many bytes of a pulled body may wait for the reader.
    ///   - onRoom: The reader has made room after a chunk was refused.
    ///   - onAbandon: The reader has left.
    init(
        _ request: HTTPRequest, answering timing: AnswerTiming, capacity: Int,
        onRoom: @escaping @Sendable () -> Void = {}, onAbandon: @escaping @Sendable () -> Void
    ) {
        self.request = request
        if case .whenComplete(let limit) = timing { self.limit = limit } else { limit = nil }
        pipe = BytePipe(capacity: capacity, onRoom: onRoom, onAbandon: onAbandon)
        state = Locked(State(lastActivity: start))
    }

    /// Waits for the answer. A pulled body is made here and belongs to the caller alone, so that dropping it is noticed.
    func response() async throws -> HTTPResponse {
        var response = try await answer.value()
        if limit == nil { response.content = .stream(IncomingBody(pipe)) }
        return response
    }

    /// Whether a head has come.
    var hasHead: Bool { state.withLock { $0.head != nil } }

    /// How long nothing has moved.
    var idleTime: Duration { state.withLock { $0.lastActivity.duration(to: .now) } }

    /// Something moved: the idle timeout begins anew.
    func noteActivity() {
        state.withLock { $0.lastActivity = .now }
    }

    /// A head came. One of status 1xx goes before the real one and is forgotten.
    func receiveHead(_ status: HTTPStatus, _ headers: HTTPHeaders) {
        noteActivity()
        guard !status.isInformational else { return }
        let timing = state.withLock { state in
            state.head = Head(status: status, headers: headers)
            state.body = Data()
            state.timing.firstByte = start.duration(to: .now)
            return state.timing
        }
        guard limit == nil else { return }
        answer.settle(.success(HTTPResponse(status, headers: headers, to: request, timing: timing)))
    }

    /// Bytes of the body came.
    ///
    /// - Returns: Whether they were taken; `.abandoned` once nobody wants them.
    func receive(_ bytes: Data) -> BytePipe.WriteResult {
        noteActivity()
        guard let limit else { return pipe.write(bytes) }
        let fits = state.withLock { state in
            guard state.body.count + bytes.count <= limit else { return false }
            state.body.append(bytes)
            return true
        }
        if !fits { fail(.responseTooLarge(limit: limit)) }
        return answer.outcome == nil ? .taken : .abandoned
    }

    /// The exchange is over and went well.
    func finish() {
        let (head, body, timing) = state.withLock { state in
            state.timing.total = start.duration(to: .now)
            return (state.head, state.body, state.timing)
        }
        pipe.finish()
        guard let head else {
            return fail(NetworkError(.malformedResponse, reason: "the exchange ended without a head"))
        }
        answer.settle(
            .success(
                HTTPResponse(head.status, headers: head.headers, content: .data(body), to: request, timing: timing)))
    }

    /// The exchange is over and went wrong.
    func fail(_ error: NetworkError) {
        let head = state.withLock { $0.head }
        let response = head.map { HTTPResponse($0.status, headers: $0.headers, to: request) }
        let error = error.completed(request: request, response: response)
        pipe.finish(.failure(error))
        answer.settle(.failure(error))
    }
}
