import Foundation

/// One exchange in an engine: takes what comes from the wire and settles the answer once.
///
/// It knows no engine. An engine tells it of the head, the bytes and the end, one after another on a thread or queue of its own, and ends
/// the exchange when bytes are not wanted any more: the caller or the reader has left, or a bound was passed.
final class Transfer: @unchecked Sendable {  // because only the engine's thread or queue touches its variables
    private struct Answer: Sendable {
        let head: ResponseHead
        var body = Data()
        let timing: ResponseTiming
    }

    let request: HTTPRequest
    private let answer = Settlement<Answer>()
    private let limit: Int?
    private let pipe: BytePipe?
    private var head: ResponseHead?
    private var body = Data()

    /// - Parameters:
    ///   - request: What is sent.
    ///   - timing: When the answer is wanted.
    ///   - pipe: Makes what a pulled body goes through.
    init(_ request: HTTPRequest, answering timing: AnswerTiming, through pipe: () -> BytePipe) {
        self.request = request
        switch timing {
        case .whenComplete(let limit):
            self.limit = limit
            self.pipe = nil
        case .atHead:
            limit = nil
            self.pipe = pipe()
        }
    }

    /// Waits for the answer. A pulled body is made here and belongs to the caller alone, so that dropping it is noticed.
    func response() async throws -> HTTPResponse {
        let answer = try await answer.value()
        let content = pipe.map { ResponseContent.stream(IncomingBody($0)) } ?? .data(answer.body)
        return HTTPResponse(
            answer.head.status, headers: answer.head.headers, content: content, to: request, timing: answer.timing)
    }

    /// Whether a head has come.
    var hasHead: Bool { head != nil }

    /// The head came. One of status 1xx goes before the real one and is none.
    func receiveHead(_ head: ResponseHead, timing: @autoclosure () -> ResponseTiming) {
        guard !head.status.isInformational else { return }
        self.head = head
        guard pipe != nil else { return }
        var timing = timing()
        timing.total = nil  // the body is still to come
        answer.settle(.success(Answer(head: head, timing: timing)))
    }

    /// Makes place for a body of known length, so that it is not moved while it grows.
    func expect(bytes count: Int) {
        if let limit, count <= limit { body.reserveCapacity(min(count, 1 << 26)) }
    }

    /// Bytes of the body came.
    ///
    /// - Returns: Whether they were taken; `.abandoned` once nobody wants them.
    func receive(_ bytes: UnsafeRawBufferPointer) -> BytePipe.WriteResult {
        guard let limit else { return pipe?.write(Data(bytes)) ?? .abandoned }
        guard body.count + bytes.count <= limit else {
            fail(.responseTooLarge(limit: limit))
            return .abandoned
        }
        body.append(contentsOf: bytes)
        return .taken
    }

    /// The exchange is over and went well.
    func finish(timing: ResponseTiming) {
        pipe?.finish()
        guard let head else {
            return fail(NetworkError(.malformedResponse, reason: "the exchange ended without a head"))
        }
        answer.settle(.success(Answer(head: head, body: body, timing: timing)))
    }

    /// The exchange is over and went wrong.
    func fail(_ error: NetworkError) {
        let response = head.map { HTTPResponse($0.status, headers: $0.headers, to: request) }
        let error = error.completed(request: request, response: response)
        pipe?.finish(.failure(error))
        answer.settle(.failure(error))
    }
}
