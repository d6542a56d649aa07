import Foundation

/// One exchange of an engine. It collects the head and the body of the response, and settles the response once.
///
/// It does not depend on any engine. An engine reports the head, the bytes and the end, one after another on its own
/// thread or queue. The engine ends the exchange when the bytes are no longer needed: the caller no longer waits, the
/// reader has stopped reading, or a limit was exceeded.
///
/// Exclusivity is not checked at run time, because only one thread at a time uses the variables, and accesses do not
/// overlap.
final class Transfer: @unchecked Sendable {  // because only the engine's thread or queue changes its variables
    let request: HTTPRequest
    /// Settled when the head, the body and the timing of the response are final.
    private let isAnswered = Settlement<Void>()
    @exclusivity(unchecked) private var limit: Int?
    private let pipe: BytePipe?
    @exclusivity(unchecked) private var head: ResponseHead?
    @exclusivity(unchecked) private var body = Data()
    /// The number of bytes of the body that have arrived.
    @exclusivity(unchecked) private var received = 0
    @exclusivity(unchecked) private var facts = TransferFacts()
    /// The meter that counts a body in memory. A streamed body is counted where it is read.
    @exclusivity(unchecked) private var meter: RequestProgress.Meter?
    /// The timer of a body in memory, if the call rejects the response or follows its redirect. Otherwise nil.
    @exclusivity(unchecked) private var timer: RejectedBodyTimer?
    /// The reason why the body is cut off, if the response is nevertheless the outcome of the call.
    @exclusivity(unchecked) private var cutOff: String?
    /// Whether the exchange has ended. From then on, the caller may read the variables.
    @exclusivity(unchecked) private var isOver = false

    /// - Parameters:
    ///   - request: The request to send.
    ///   - delivery: How the body is returned.
    ///   - pipe: A closure that creates the pipe of a streamed body.
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

    /// Waits for the response. A streamed body is created here. Only the caller refers to this body, so the engine
    /// notices when the caller releases it.
    func response() async throws -> HTTPResponse {
        try await isAnswered.value()
        return answer
    }

    // Not inlined: large values must not become part of the frame of the function that waits, because each waiting call
    // retains that memory.
    private var answer: HTTPResponse {
        @inline(never) get {
            let content = pipe.map { HTTPResponse.Content.stream(IncomingBody($0, of: request)) } ?? .data(body)
            var response = HTTPResponse(
                head?.status ?? 0, headers: head?.headers ?? [], content: content, to: request, timing: facts.timing,
                httpVersion: head?.version)
            response.connection = facts.connection
            if let cutOff { response.cutOff = cutOff }
            return response
        }
    }

    /// Whether a head has arrived.
    var hasHead: Bool { head != nil }
    /// Whether the response is a redirect.
    var isRedirect: Bool { head?.status.isRedirection ?? false }

    /// Whether fewer bytes of the body have arrived than its length. False for a body with a content coding, because
    /// the length does not count decoded bytes.
    var isCutOff: Bool {
        guard let head, head.headers.contentCodings.isEmpty,
            let length = try? head.bodyLength(for: request.method)
        else { return false }
        return received < length
    }

    /// Receives a head. A head of status 1xx is ignored, because it precedes the final head.
    ///
    /// - Parameters:
    ///   - switchesProtocols: Whether the connection continues with another protocol. The head of status 101 is then
    ///     the final head.
    ///   - stop: A closure that asks the engine to end the exchange. It may be called on any thread.
    func receiveHead(
        _ head: ResponseHead, switchesProtocols: Bool = false, facts: @autoclosure () -> TransferFacts,
        stop: @autoclosure () -> @Sendable () -> Void
    ) {
        guard !head.status.isInformational || switchesProtocols, !isOver else { return }
        self.head = head
        let context = request.parts.transfer
        context?.receive(head, to: request)
        let meter = head.status.isSuccessful ? context?.meter : nil
        if let meter, !head.headers.isDecoded { meter.noteEncoded(nil) }
        guard pipe != nil else {
            if let meter { count(head, with: meter) }
            if let context, context.limitsBody(after: head, to: request) {
                self.facts = facts()
                self.facts.timing.total = nil
                limitBody(of: head, in: context, stop())
            }
            return
        }
        self.facts = facts()
        self.facts.timing.total = nil  // the body has not been received yet
        isAnswered.settle(.success(()))
    }

    /// Applies the limits of ``RejectedBody``.
    private func limitBody(of head: ResponseHead, in context: TransferContext, _ stop: @escaping @Sendable () -> Void) {
        let isFollowed = context.follows(head)
        limit = limit.map { min($0, isFollowed ? RejectedBody.redirectSize : RejectedBody.maximumSize) }
        let isEmpty = head.headers[.contentLength] == "0" && !head.headers.hasTransferCoding
        guard timer == nil, head.mayHaveBody(for: request.method), !isEmpty else { return }
        let total = isFollowed ? RejectedBody.redirectTotal : RejectedBody.total
        timer = .start(on: context.clock, total: total) { _ in stop() }
    }

    private func count(_ head: ResponseHead, with meter: RequestProgress.Meter) {
        self.meter = meter
        meter.beginDownload(
            at: 0,
            of: HTTPResponse(head.status, headers: head.headers, to: request).statedLength)
    }

    /// For a body with a content coding, reports how many encoded bytes have been received. `length` is the length of
    /// the encoded body.
    func noteEncoded(_ count: Int, of length: Int64) {
        guard let meter = request.progress, head?.status.isSuccessful == true else { return }
        meter.noteEncoded(length > 0 ? Double(count) / Double(length) : 1)
    }

    /// Reserves memory for a body of known length, so that the body is not moved while it grows.
    func expect(bytes count: Int) {
        if let limit, count <= limit { body.reserveCapacity(min(count, 1 << 26)) }
    }

    /// Receives bytes of the body.
    ///
    /// - Returns: Whether the bytes were taken; `.abandoned` if they are no longer needed.
    func receive(_ bytes: UnsafeRawBufferPointer) -> BytePipe.WriteResult {
        guard !isOver else { return .abandoned }
        guard let limit else {
            let result = pipe?.write(Data(bytes)) ?? .abandoned
            if result == .taken { received += bytes.count }
            return result
        }
        received += bytes.count
        guard body.count + bytes.count <= limit else {
            body.append(contentsOf: bytes.prefix(limit - body.count))
            fail(.responseTooLarge(limit: limit))
            return .abandoned
        }
        body.append(contentsOf: bytes)
        timer?.noteBytes()
        meter?.noteReceived(bytes.count)
        return .taken
    }

    /// Ends the exchange successfully.
    ///
    /// - Parameter httpVersion: The version of HTTP, if the engine knows it only when the exchange ends.
    func finish(_ facts: TransferFacts, httpVersion: String? = nil) {
        guard !isOver else { return }
        pipe?.finish()
        // The head of a streamed response has already been returned.
        if pipe == nil, let httpVersion { head?.version = httpVersion }
        guard head != nil else {
            return fail(
                NetworkError(
                    .connectionLostBeforeHead, reason: "the connection ended before the end of the response head"))
        }
        isOver = true
        guard pipe == nil else { return }
        timer?.end()
        self.facts = facts
        isAnswered.settle(.success(()))
    }

    /// Ends the exchange with an error. If the response is not a success, the error contains the part of its body that
    /// has arrived. If the call rejects the response because of its status, or follows its redirect, the outcome is not
    /// the error, but the response with this part of its body.
    func fail(_ error: NetworkError) {
        guard !isOver else { return }
        isOver = true
        let response = head.map { head in
            var response = HTTPResponse(
                head.status, headers: head.headers, content: .data(head.status.beginning(of: body)), to: request,
                httpVersion: head.version)
            response.cutOff = error.cutOffReason
            return response
        }
        let error = error.completed(request: request, response: response)
        // The caller of a streamed response may already read the variables, so they must not change.
        let reason = response.flatMap { reasonToKeep($0, after: error) }
        timer?.end()
        if let reason {
            cutOff = reason
            body = Data(body.prefix(RejectedBody.maximumSize))
            isAnswered.settle(.success(()))
        } else {
            pipe?.finish(.failure(error))
            isAnswered.settle(.failure(error))
        }
    }

    /// Returns the reason why the body is cut off, if the response is nevertheless the outcome. Nil if the error is the
    /// outcome. For a streamed body, the result is nil, and its reader gets the error.
    private func reasonToKeep(_ response: HTTPResponse, after error: NetworkError) -> String? {
        guard pipe == nil, timer != nil || request.parts.transfer?.rejects(response) == true else { return nil }
        return timer?.reason ?? (error.isLossOfBody ? error.cutOffReason : nil)
    }
}

/// A weak reference to an object, for closures that are created before the object.
final class Weak<Object: AnyObject & Sendable>: @unchecked Sendable {  // because it is set before other threads use it
    weak var object: Object?
}

/// The number of exchanges in progress in an engine, and the closures to call when no exchange is in progress.
struct RunningCount: Sendable {
    private(set) var count = 0
    private var whenNone: [@Sendable () -> Void] = []

    /// Counts an exchange that begins.
    ///
    /// - Returns: Whether the exchange may begin; false after ``drain(_:)``.
    mutating func begin() -> Bool {
        guard whenNone.isEmpty else { return false }
        count += 1
        return true
    }

    /// Subtracts an exchange that has ended.
    ///
    /// - Returns: The closures to call, outside any lock.
    mutating func end() -> [@Sendable () -> Void] {
        count -= 1
        return count == 0 ? whenNone : []
    }

    /// Refuses further exchanges.
    ///
    /// - Parameter whenNone: A closure to call when no exchange is in progress.
    /// - Returns: True if no exchange is in progress now. The caller must then call the closure.
    mutating func drain(_ whenNone: @escaping @Sendable () -> Void) -> Bool {
        self.whenNone.append(whenNone)
        return count == 0
    }
}
