import Foundation

/// One exchange in an engine: takes what comes from the wire and settles the response once.
///
/// It knows no engine. An engine tells it of the head, the bytes and the end, one after another on a thread or queue of
/// its own, and ends the exchange when bytes are not wanted any more: the caller or the reader has left, or a bound was
/// passed.
final class Transfer: @unchecked Sendable {  // because only the engine's thread or queue touches its variables
    let request: HTTPRequest
    /// Settled once head, body and timing are what the response is made of, and are not changed any more.
    private let isAnswered = Settlement<Void>()
    private let limit: Int?
    private let pipe: BytePipe?
    private var head: ResponseHead?
    private var body = Data()
    /// The number of bytes of the body that have arrived.
    private var received = 0
    private var timing = HTTPResponse.Timing()
    /// Who counts a body that comes into memory; one that is pulled is counted where it is pulled.
    private var meter: ProgressMeter?

    /// - Parameters:
    ///   - request: What is sent.
    ///   - delivery: How the body is returned.
    ///   - pipe: Makes what a pulled body goes through.
    init(_ request: HTTPRequest, delivering delivery: BodyDelivery, through pipe: () -> BytePipe) {
        self.request = request
        switch delivery {
        case .buffered(let limit):
            self.limit = max(limit, 0)
            self.pipe = nil
        case .streamed:
            limit = nil
            self.pipe = pipe()
        }
    }

    /// Waits for the response. A pulled body is made here and belongs to the caller alone, so that dropping it is
    /// noticed.
    func response() async throws -> HTTPResponse {
        try await isAnswered.value()
        return answer
    }

    // Not inlined: what is big must not become part of the function that waits, whose memory each waiting call keeps.
    private var answer: HTTPResponse {
        @inline(never) get {
            let content = pipe.map { HTTPResponse.Content.stream(IncomingBody($0, of: request)) } ?? .data(body)
            return HTTPResponse(
                head?.status ?? 0, headers: head?.headers ?? [], content: content, to: request, timing: timing,
                httpVersion: head?.version)
        }
    }

    /// Whether a head has arrived.
    var hasHead: Bool { head != nil }

    /// Whether fewer bytes of the body have arrived than `Content-Length` says; false if the length says nothing about
    /// decoded bytes.
    var isCutOff: Bool {
        guard let head, !head.headers.contains(.contentEncoding), let length = head.headers.contentLength else {
            return false
        }
        return received < length
    }

    /// The head came. One of status 1xx goes before the real one and is none.
    func receiveHead(_ head: ResponseHead, timing: @autoclosure () -> HTTPResponse.Timing) {
        guard !head.status.isInformational else { return }
        self.head = head
        request[option: RequestWatch.self]?.tell(.head(head.status, head.headers))
        guard pipe != nil else { return count(head) }
        self.timing = timing()
        self.timing.total = nil  // the body is still to come
        isAnswered.settle(.success(()))
    }

    private func count(_ head: ResponseHead) {
        guard let meter = request[option: ProgressOption.self], head.status.isSuccessful else { return }
        self.meter = meter
        meter.beginDownload(
            of: head.headers.contains(.contentEncoding) ? nil : head.headers.contentLength.map(Int64.init))
    }

    /// Makes place for a body of known length, so that it is not moved while it grows.
    func expect(bytes count: Int) {
        if let limit, count <= limit { body.reserveCapacity(min(count, 1 << 26)) }
    }

    /// Bytes of the body came.
    ///
    /// - Returns: Whether they were taken; `.abandoned` once nobody wants them.
    func receive(_ bytes: UnsafeRawBufferPointer) -> BytePipe.WriteResult {
        guard let limit else {
            let result = pipe?.write(Data(bytes)) ?? .abandoned
            if result == .taken { received += bytes.count }
            return result
        }
        received += bytes.count
        guard body.count + bytes.count <= limit else {
            body.append(contentsOf: bytes.prefix(limit - body.count))
            fail(.responseTooLarge(limit: limit), with: head?.status.beginning(of: body) ?? Data())
            return .abandoned
        }
        body.append(contentsOf: bytes)
        meter?.noteReceived(bytes.count)
        return .taken
    }

    /// The exchange is over and went well.
    ///
    /// - Parameter httpVersion: The version of HTTP, for an engine that knows it only now.
    func finish(timing: HTTPResponse.Timing, httpVersion: String? = nil) {
        pipe?.finish()
        // The head of a streamed response was passed on long ago.
        if pipe == nil, let httpVersion { head?.version = httpVersion }
        guard head != nil else {
            return fail(
                NetworkError(
                    .connectionLostBeforeHead, reason: "the connection ended before the end of the response head"))
        }
        guard pipe == nil else { return }
        self.timing = timing
        isAnswered.settle(.success(()))
    }

    /// The exchange is over and went wrong.
    ///
    /// - Parameter body: What the error tells of the body.
    func fail(_ error: NetworkError, with body: Data = Data()) {
        let response = head.map {
            HTTPResponse($0.status, headers: $0.headers, content: .data(body), to: request, httpVersion: $0.version)
        }
        let error = error.completed(request: request, response: response)
        pipe?.finish(.failure(error))
        isAnswered.settle(.failure(error))
    }
}
