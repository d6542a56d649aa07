import Foundation

/// The link from a transfer to its call. It is the part of a request that the engines and the transports around them
/// use. Each call has one context; a request that is sent without a call has none.
///
/// A transfer that outlives its call, such as a validation in the background, has a context of its own.
package final class TransferContext: HTTPRequest.Part, CallAdmission {
    /// Receives the events of the transfer, on the thread that reports them; nil if nobody observes the call.
    private let events: (@Sendable (RequestSignal) -> Void)?
    /// Counts the bytes of the call; nil if they are not observed.
    let meter: RequestProgress.Meter?
    /// Pauses the call; nil if it cannot be paused.
    let pause: PauseGate?
    /// Whether ``pause`` pauses an upload. The response to an upload is not paused.
    private let pausesUpload: Bool
    /// Pauses a download; nil for an upload, and if the call cannot be paused.
    var downloadPause: PauseGate? { pausesUpload ? nil : pause }
    /// Whether the body of the response is written into a file.
    let isDownload: Bool
    /// The request of the call that the transfer continues. The session and the policies of this call are notified of
    /// the response. Nil if the transfer belongs to the call itself.
    private let continuing: HTTPRequest?
    /// What the call decides about its responses; nil if the request is not sent by a call.
    let rules: (any ResponseRules)?
    private var refusal: RefusalRule? { rules?.refusal }
    private let held: Locked<(any TransferAdmission)?>

    init(
        events: (@Sendable (RequestSignal) -> Void)? = nil, meter: RequestProgress.Meter? = nil,
        pause: PauseGate? = nil, pausesUpload: Bool = false, isDownload: Bool = false,
        admission: (any TransferAdmission)? = nil, rules: (any ResponseRules)? = nil, continuing: HTTPRequest? = nil
    ) {
        self.events = events
        self.meter = meter
        self.pause = pause
        self.pausesUpload = pausesUpload
        self.isDownload = isDownload
        self.rules = rules
        self.continuing = continuing
        held = Locked(admission)
    }

    /// The request belongs to the same call at every origin.
    package var outsideOrigin: TransferContext? { self }
    package var outsideCall: TransferContext? { nil }
    package var identity: [String] { [] }

    /// The admission of the attempt in progress; nil before the first attempt is admitted. Its permits may
    /// have been returned already.
    var admission: (any TransferAdmission)? {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }

    package var isHeld: Bool { admission?.isHeld ?? false }

    /// Reports an event of the transfer.
    func report(_ signal: @autoclosure () -> RequestSignal) { events?(signal()) }

    /// Reports the head of a response from the server. The policies receive the last head of the attempt. A redirect
    /// with a `Location`, a 304 and a 416 may be followed by another request. The policies receive such a head only
    /// when the attempt ends, and only if no other head has followed.
    func receive(_ head: ResponseHead, to request: HTTPRequest) {
        report(.head(head.status, head.headers))
        let isFollowed = head.status.isRedirection && head.headers.contains(.location)
        guard !isFollowed, head.status != .notModified, head.status != .rangeNotSatisfiable else { return }
        admission?.hear {
            inCall(HTTPResponse(head.status, headers: head.headers, to: request, httpVersion: head.version))
        }
    }

    /// Returns whether the head of a response refuses the token of the call's session.
    func isRefusal(headOf response: HTTPResponse) -> Bool {
        // The response of the call itself is not copied.
        guard let continuing else { return refusal?.head(response) ?? false }
        return refusal?.head(response.inCall(of: continuing)) ?? false
    }

    /// Returns whether a response refuses the token of the call's session. The body is checked only if it is complete
    /// and in memory.
    func isRefusal(_ response: HTTPResponse) -> Bool {
        if isRefusal(headOf: response) { return true }
        guard let refusal, response.cutOff == nil, case .data = response.content else { return false }
        return refusal.body(inCall(response))
    }

    /// Passes a response to the session. The attempt sends several requests, and the request of this response has
    /// advanced the attempt.
    func receive(progress response: HTTPResponse) { refusal?.progress(response) }

    private func inCall(_ response: HTTPResponse) -> HTTPResponse {
        continuing.map { response.inCall(of: $0) } ?? response
    }

    /// The context for a single request of an attempt that sends several requests. The policies do not receive the
    /// response head of this request. They receive the response of the attempt when the attempt ends. Only the whole
    /// attempt can be paused.
    var aside: TransferContext {
        TransferContext(events: events, meter: meter, isDownload: isDownload, rules: rules)
    }

    /// Returns the context of a transfer that continues after this call. The transfer takes over the permits of the
    /// call, and rejects the responses that the call rejects. `request` is the request of the call.
    func continued(for request: HTTPRequest) -> TransferContext {
        TransferContext(admission: admission?.handOver(), rules: rules, continuing: request)
    }
}

extension HTTPRequest.Parts {
    /// The context of the request's call; nil if the request does not belong to a call.
    var transfer: TransferContext? { self[TransferContext.self] }
}

extension HTTPRequest {
    /// Whether the call of the request writes the body of the response into a file. False without a call.
    var isDownload: Bool { parts.read(TransferContext.self) { $0.isDownload } ?? false }

    /// Makes the request part of a call.
    mutating func belong(to context: TransferContext) { parts[TransferContext.self] = context }
}

extension HTTPResponse {
    /// Whether the response refuses the token of the call's session. The session decides once; the response keeps the
    /// decision. False for a response that does not belong to a call.
    var isRefusal: Bool {
        knownRefusal ?? request.parts.read(TransferContext.self) { $0.isRefusal(self) } ?? false
    }

    /// Whether the response refuses the token although its head does not.
    var isRefusalByBody: Bool { isRefusal && request.parts.transfer?.isRefusal(headOf: self) == false }

    /// Stores whether the session considers the response a refusal. If the response is a stream and its head does not
    /// refuse the token, nothing is stored, because the body may still refuse the token.
    mutating func decideRefusal() {
        guard knownRefusal == nil else { return }
        let decision = isRefusal
        if case .stream = content, !decision { return }
        knownRefusal = decision
    }

    /// - Throws: ``NetworkError`` if the response refuses the token of the call's session.
    func checkRefusal() throws {
        guard isRefusal else { return }
        let reason = isRefusalByBody ? "\(status), whose body refuses the token" : nil
        throw NetworkError(.unacceptableStatus, reason: reason)
    }

    /// Returns the response after making its request part of the call of the given request.
    func inCall(of request: HTTPRequest) -> HTTPResponse {
        var response = self
        response.request = response.request.inCall(of: request)
        return response
    }
}

/// The permits of the attempt that a transfer belongs to.
protocol TransferAdmission: CallAdmission {
    /// Passes the head of the response to the policies, unless they have already received a head or the permits have
    /// been returned.
    ///
    /// - Parameter head: A closure that creates the head. Not called if no policy receives it.
    func hear(_ head: () -> HTTPResponse)
    /// Returns the permits, unless they have been returned already.
    ///
    /// - Parameter outcome: The outcome of the request for which the permits were held; nil if no request was sent.
    func end(after outcome: Result<HTTPResponse, any Error>?)
    /// Moves the permits from the call to a transfer that outlives the call.
    ///
    /// - Returns: The admission of the transfer; nil if the permits have already been returned.
    func handOver() -> (any TransferAdmission)?
}

extension HTTPRequest {
    /// The meter that counts the bytes of the call, for transports; nil if the bytes are not observed.
    public var progress: RequestProgress.Meter? { parts.read(TransferContext.self) { $0.meter } }

    /// Opens the body to send the request once. If the call has a ``RequestProgress/Meter``, the reader reports the
    /// bytes to the meter. Open bodies with this method in a custom transport.
    ///
    /// - Throws: The error of the encoding or of the source.
    public func openBody() throws -> any HTTPBody.Reader {
        let reader = try body.open()
        guard let meter = progress, !body.isEmpty else { return reader }
        meter.begin(body)
        return MeteredBodyReader(reader, meter)
    }
}

extension HTTPResponse {
    /// Returns the response. If the call has a ``RequestProgress/Meter`` and the status is a success, the body of the
    /// response reports its bytes to the meter.
    func metered() -> HTTPResponse {
        guard let meter = request.progress, status.isSuccessful else { return self }
        switch content {
        case .data(let data):
            meter.beginDownload(at: Int64(data.count), of: Int64(data.count))
            return self
        case .file:
            return self
        case .stream(let body):
            // `Content-Range` is ignored if the request has no `Range`.
            let range = request.headers.contains(.range) ? headers.contentRange : nil
            let start = range?.first ?? 0
            let length = statedLength
            let total = range?.total ?? length.map { start.addingReportingOverflow($0).partialValue }
            meter.beginDownload(at: start, of: total)
            var response = self
            response.content = .stream(
                body.pulled { pull in
                    let chunk = try await pull()
                    if let chunk { meter.noteReceived(chunk.count) }
                    return chunk
                } whenReleased: {
                    meter.finishStream()
                })
            return response
        }
    }
}

/// Reports to a meter how many bytes of a body have been read.
private final class MeteredBodyReader: HTTPBody.Reader {
    private let base: any HTTPBody.Reader
    private let meter: RequestProgress.Meter

    init(_ base: any HTTPBody.Reader, _ meter: RequestProgress.Meter) {
        self.base = base
        self.meter = meter
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> HTTPBody.ReadResult {
        let result = try base.read(into: buffer)
        if case .bytes(let count) = result { meter.noteSent(count) }
        return result
    }

    func onReady(_ wake: @escaping @Sendable () -> Void) { base.onReady(wake) }

    func close() { base.close() }
}
