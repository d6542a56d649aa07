#if os(Linux)
    import CLibcurl

    /// One exchange on a loop: connects libcurl's callbacks with a request's body and a transfer.
    ///
    /// Everything but ``cancel()`` and ``init(_:answering:configuration:loop:owner:)`` runs on the loop's thread.
    final class CurlExchange: @unchecked Sendable {  // because its variables are touched only on the loop's thread
        let request: HTTPRequest
        let transfer: Transfer
        /// The body, if there are bytes to send.
        private(set) var reader: (any BodyReader)?
        /// The handle of the attempt in progress; nil before and after.
        var handle: CurlHandle?
        /// An error that was found on our side, and ended the exchange.
        private(set) var failure: NetworkError?
        private let limits: CurlConfiguration.Limits
        private let requiresHTTP2: Bool
        private let loop: CurlLoop
        /// The transport, which lives as long as the exchange.
        private let owner: any AnyObject & Sendable
        private var headReader: ResponseHeadReader
        private var activity: CurlActivity
        private var bytesRead = 0
        private var staged: StagedBytes?
        private var decodedBytes = 0
        private var isEncoded = false
        /// The content codings of the response, if it has some that the engine knows.
        private var decoding: ContentDecoding?
        /// The number of bytes that were decoded of those that libcurl will pass on again after a pause.
        private var decodedBefore = 0
        private var pauses: Int32 = 0
        /// The number of times that the engine has sent the request again.
        private var repeats = 0
        /// The number of times that libcurl began to send the request on ``handle``.
        private var sends = 0
        /// Whether any byte of a response has arrived.
        private(set) var hasReceived = false
        /// The connection in use.
        private var connection: CurlStreamLog.Connection?
        private var stream: CurlStreamLog.Stream?

        /// Opens the body.
        init(
            _ request: HTTPRequest, answering timing: AnswerTiming, configuration: CurlConfiguration, loop: CurlLoop,
            owner: any AnyObject & Sendable
        ) throws {
            self.request = request
            let limits = configuration.limits
            self.limits = limits
            requiresHTTP2 = configuration.httpVersions == .http2
            self.loop = loop
            self.owner = owner
            activity = CurlActivity(request.timeouts)
            headReader = ResponseHeadReader(limit: limits.headBytes)
            var mailbox: CurlMailbox?
            transfer = Transfer(request, answering: timing) {
                let box = CurlMailbox(loop)
                mailbox = box
                return BytePipe(
                    capacity: limits.bufferedBytes,
                    onRoom: { box.post { .resume($0, CurlExchange.receiving) } },
                    onAbandon: { box.post { .cancel($0) } })
            }
            mailbox?.exchange = self
            if !request.body.isEmpty { try open() }
        }

        /// Has the loop end the exchange, whose caller has left. From any thread.
        func cancel() {
            loop.post(.cancel(self))
        }

        static let receiving = Int32(CCURLPAUSE_RECV)
        static let sending = Int32(CCURLPAUSE_SEND)

        /// The exchange begins.
        ///
        /// - Parameter mayWait: Whether it may have to wait for a connection, so that the idle timeout starts later.
        func begin(mayWait: Bool) {
            activity.begin(at: loop.now, isConnected: !mayWait)
        }

        /// The exchange has a connection, or opens one: the idle timeout starts.
        func noteConnection() {
            activity.noteConnection(at: loop.now)
        }

        /// Whether a timeout has passed, or when to look again. A server whose response is held back is not idle.
        func timeoutStatus(at now: UInt64) -> CurlActivity.Status {
            let isHeldBack = pauses & CurlExchange.receiving != 0
            if let arrival = handle?.lastArrival { activity.note(arrival: arrival) }
            // libcurl sends the last bytes that it read without a callback.
            let uploaded = reader == nil || isHeldBack ? nil : handle?.uploadedBytes
            return activity.status(at: now, isHeldBack: isHeldBack, uploaded: uploaded)
        }

        /// Nothing more is read from the body.
        func closeBody() {
            reader?.close()
            reader = nil
        }

        /// Resumes a direction.
        func resume(_ direction: Int32) {
            guard let handle, pauses & direction != 0 else { return }
            pauses &= ~direction
            activity.note(at: loop.now)
            guard !handle.pause(pauses) else { return }
            // The exchange refused the bytes that libcurl had kept during the pause; libcurl would wait without end.
            failure = failure ?? NetworkError(.unknown, reason: "libcurl cannot resume the exchange")
            cancel()
        }

        private func open() throws {
            do {
                let reader = try request.openBody()
                let mailbox = CurlMailbox(loop)
                mailbox.exchange = self
                reader.onReady { mailbox.post { .resume($0, CurlExchange.sending) } }
                self.reader = reader
            } catch {
                throw NetworkError.bodyUnreadable(error)
            }
        }
    }

    /// Repeating the request.
    extension CurlExchange {
        /// Whether the request is to be sent on a new connection, because two kept ones have failed.
        var needsNewConnection: Bool { repeats > 1 }

        /// Whether the request may be sent again after libcurl has given up: the server refused its stream, or a kept
        /// connection was lost before the first byte of a response and the request is repeatable. (libcurl repeats most
        /// refused streams itself.)
        func mayRepeat(after code: Int32) -> Bool {
            guard failure == nil, !hasReceived, request.body.isReplayable else { return false }
            let isRefused = stream.map { loop.streamLog.isRefused($0) } ?? false
            if isRefused || handle?.hasOnlyBeenRefused(code) == true { return repeats < 10 }
            return request.isRepeatable && repeats < 2 && CurlFailure.isConnectionLoss(code)
                && handle?.isOnKeptConnection == true
        }

        /// Reads a line of libcurl's log, on versions of which the log is needed.
        func noteLog(_ line: UnsafeRawBufferPointer) {
            guard let connection else { return }
            if let stream = loop.streamLog.read(line, on: connection) { self.stream = stream }
        }

        /// Opens the body again.
        func prepareToRepeat() throws {
            repeats += 1
            sends = 0
            stream = nil
            try reopen()
        }

        private func reopen() throws {
            closeBody()
            bytesRead = 0
            staged = nil
            pauses &= ~CurlExchange.sending
            if !request.body.isEmpty { try open() }
        }
    }

    /// libcurl's callbacks.
    extension CurlExchange {
        /// libcurl has a connection and is about to send the request. It calls this again for a request that is sent
        /// again: one whose stream was refused.
        ///
        /// libcurl also repeats a request after a response: 417 to `Expect`, or an HTTP/2 stream that was reset with
        /// HTTP_1_1_REQUIRED. The server may have processed that request.
        func beginSending(on connection: CurlStreamLog.Connection?) -> Int32 {
            self.connection = connection
            stream = nil
            noteConnection()
            sends += 1
            if sends > 1, hasReceived {
                failure = NetworkError(
                    .connectionLostAfterHead, reason: "the server asked for the request in another form")
                return Int32(CCURL_PREREQFUNC_ABORT)
            }
            // Bytes of the body that libcurl had read and not sent are lost with the first connection.
            guard sends > 1, bytesRead > 0 else { return Int32(CCURL_PREREQFUNC_OK) }
            return rewind() == CCURL_SEEKFUNC_OK ? Int32(CCURL_PREREQFUNC_OK) : Int32(CCURL_PREREQFUNC_ABORT)
        }

        /// A line of the head, or of the trailers.
        func receive(headerLine: UnsafeRawBufferPointer) -> Int {
            hasReceived = true
            activity.note(at: loop.now)
            switch headReader.read(headerLine) {
            case .more:
                return headerLine.count
            case .head(let head):
                do throws(NetworkError) { try receive(head) } catch { return abort(error) }
                return headerLine.count
            case .tooLarge(let limit):
                return abort(NetworkError(.responseTooLarge, reason: "the response head has \(limit)"))
            case .malformed(let reason):
                return abort(NetworkError(.malformedResponse, reason: "the response is not HTTP: \(reason)"))
            }
        }

        /// Bytes of the body.
        func receive(body: UnsafeRawBufferPointer) -> Int {
            activity.note(at: loop.now)
            do throws(NetworkError) {
                guard let decoding else { return try pass(body) == body.count ? body.count : holdBack() }
                let skipped = min(decodedBefore, body.count)
                decodedBefore += try decoding.decode(UnsafeRawBufferPointer(rebasing: body[skipped...]))
                guard !decoding.isHeldBack else { return holdBack() }
                decodedBefore -= body.count
                return body.count
            } catch {
                return error.kind == .cancelled ? 0 : abort(error)
            }
        }

        /// The body has ended as far as libcurl can tell.
        func finishBody() throws(NetworkError) {
            try decoding?.finish()
        }

        /// Has libcurl keep the bytes and pass them on again later.
        private func holdBack() -> Int {
            pauses |= CurlExchange.receiving
            handle?.notePause()
            return CCURL_WRITEFUNC_PAUSE
        }

        /// Passes decoded bytes to the transfer.
        ///
        /// - Returns: The number of bytes taken: all or none.
        /// - Throws: ``NetworkError`` if there are too many, or, of kind ``NetworkError/Kind/cancelled``, if the caller
        ///   has left.
        private func pass(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) -> Int {
            guard !isEncoded || decodedBytes + bytes.count <= limits.decodedBytes else {
                throw NetworkError(
                    .responseTooLarge, reason: "the response decodes to more than \(limits.decodedBytes) bytes")
            }
            switch transfer.receive(bytes) {
            case .taken:
                decodedBytes += bytes.count
                return bytes.count
            case .full:
                return 0
            case .abandoned:
                throw NetworkError(.cancelled)
            }
        }

        /// The next bytes of the request's body.
        func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            guard let reader else { return 0 }
            do throws(NetworkError) {
                if let count = staged?.take(into: buffer) { return count }
                // Readers may rely on some room; libcurl since 8.7 sometimes asks for a few bytes.
                if buffer.count < StagedBytes.smallest, staged == nil { staged = StagedBytes() }
                let target = buffer.count < StagedBytes.smallest ? staged?.buffer ?? buffer : buffer
                switch try reader.readNext(into: target) {
                case .bytes(let count):
                    activity.note(at: loop.now)
                    bytesRead += count
                    try checkLength(reader)
                    guard target.baseAddress != buffer.baseAddress else { return count }
                    staged?.fill(count)
                    return staged?.take(into: buffer) ?? 0
                case .end:
                    return try end()
                case .notYet:
                    pauses |= CurlExchange.sending
                    return CCURL_READFUNC_PAUSE
                }
            } catch {
                failure = error
                return CCURL_READFUNC_ABORT
            }
        }

        /// libcurl sends the request again on another connection: the server refused the stream, or its connection was
        /// lost and the request is repeatable.
        func rewind() -> Int32 {
            guard request.body.isReplayable else {
                failure = NetworkError(
                    .connectionLostBeforeHead, reason: "the connection was lost, and the body cannot be read again")
                return Int32(CCURL_SEEKFUNC_FAIL)
            }
            do {
                try reopen()
                return Int32(CCURL_SEEKFUNC_OK)
            } catch {
                failure = NetworkError.wrapping(error)
                return Int32(CCURL_SEEKFUNC_FAIL)
            }
        }

        /// The body must not go on after its length: it would be cut off there, and nobody would know.
        private func checkLength(_ reader: any BodyReader) throws(NetworkError) {
            guard let length = request.body.length, bytesRead >= length else { return }
            var isOver = bytesRead > length
            if !isOver {
                // As large as libcurl's own, in case a reader relies on some room.
                let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
                defer { buffer.deallocate() }
                if case .bytes = try reader.readNext(into: buffer) { isOver = true }
            }
            guard isOver else { return }
            throw .bodyTooLong(length)
        }

        /// The body has ended: with as many bytes as it said, or the request cannot be finished.
        private func end() throws(NetworkError) -> Int {
            guard let length = request.body.length, bytesRead < length else { return 0 }
            throw .bodyTooShort(bytesRead, of: length)
        }

        private func receive(_ head: ResponseHead) throws(NetworkError) {
            if head.isExclusive { handle?.noteExclusiveConnection() }
            if requiresHTTP2, head.version != "2" {
                throw NetworkError(
                    .malformedResponse,
                    reason: "expected HTTP/2, which httpVersions requires, found HTTP/\(head.version ?? "1.1")")
            }
            let length = try head.bodyLength(for: request.method)
            if head.headers.contains(.contentEncoding) {
                decoding = try ContentDecoding(head.headers, limit: limits.decodedBytes) {
                    [unowned self] bytes throws(NetworkError) in
                    try pass(bytes)
                }
            }
            // libcurl decodes transfer codings.
            isEncoded =
                decoding != nil
                || head.headers.hasTransferCoding && head.headers[.transferEncoding]?.lowercased() != "chunked"
            if !isEncoded, let length, length > 0 { transfer.expect(bytes: Int(clamping: length)) }
            transfer.receiveHead(head, timing: handle?.timing ?? ResponseTiming())
        }

        private func abort(_ error: NetworkError) -> Int {
            failure = error
            return 0
        }
    }

    /// Bytes of a body that were read before libcurl had room for them.
    private final class StagedBytes {
        /// The smallest buffer that readers are given.
        static let smallest = 4_096

        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: smallest, alignment: 16)
        private var rest = 0..<0

        deinit {
            buffer.deallocate()
        }

        /// The given number of bytes were read into the buffer.
        func fill(_ count: Int) {
            rest = 0..<count
        }

        /// - Returns: The number of bytes moved; nil if there are none.
        func take(into target: UnsafeMutableRawBufferPointer) -> Int? {
            guard !rest.isEmpty else { return nil }
            let count = min(rest.count, target.count)
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[rest.prefix(count)]))
            rest = rest.dropFirst(count)
            return count
        }
    }

    /// How a reader on another thread reaches the loop, without keeping the exchange.
    private final class CurlMailbox: @unchecked Sendable {  // because it is set before anybody else can see it
        weak var exchange: CurlExchange?
        private let loop: CurlLoop

        init(_ loop: CurlLoop) {
            self.loop = loop
        }

        func post(_ command: (CurlExchange) -> CurlLoop.Command) {
            if let exchange { loop.post(command(exchange)) }
        }
    }
#endif
