#if os(Linux)
    import CLibcurl

    /// One exchange on a loop: what libcurl asks for and tells, between a request's body and a transfer.
    ///
    /// Everything but ``cancel()`` and ``init(_:answering:limits:loop:owner:)`` runs on the loop's thread.
    final class CurlExchange: @unchecked Sendable {  // because its variables are touched only on the loop's thread
        let request: HTTPRequest
        let transfer: Transfer
        /// The body, where there are bytes to send.
        private(set) var reader: (any BodyReader)?
        /// What carries it; nil before and after.
        var handle: CurlHandle?
        /// What was found wrong on our side, and ended the exchange.
        private(set) var failure: NetworkError?
        /// When something last moved, in nanoseconds of the loop's clock; nil while the exchange waits for a connection.
        private var lastActivity: UInt64?
        private let idleTimeout: UInt64
        private var uploadedBytes: Int64 = 0
        private let limits: CurlConfiguration.Limits
        private let loop: CurlLoop
        /// What must not end before the exchange has: its transport.
        private let owner: any AnyObject & Sendable
        private var headReader: ResponseHeadReader
        private var bytesRead = 0
        private var decodedBytes = 0
        private var isEncoded = false
        private var pauses: Int32 = 0

        /// Opens the body.
        init(
            _ request: HTTPRequest, answering timing: AnswerTiming, limits: CurlConfiguration.Limits, loop: CurlLoop,
            owner: any AnyObject & Sendable
        ) throws {
            self.request = request
            self.limits = limits
            self.loop = loop
            self.owner = owner
            idleTimeout = UInt64(max(request.timeouts.effectiveIdle.nanoseconds, 1))
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

        /// Has the loop end the exchange, because nobody waits for it any more. From any thread.
        func cancel() {
            loop.post(.cancel(self))
        }

        static let receiving = Int32(CCURLPAUSE_RECV)
        static let sending = Int32(CCURLPAUSE_SEND)

        /// The exchange has begun, or has a connection: the idle timeout runs from now on.
        func noteConnection() {
            lastActivity = lastActivity ?? loop.now
        }

        /// When the idle timeout has to be looked at again; nil where it has passed. A server that is held back is not idle.
        func idleCheck(at now: UInt64) -> UInt64? {
            let isHeldBack = pauses & CurlExchange.receiving != 0
            guard let last = lastActivity, !isHeldBack else { return now + idleTimeout }
            guard reader != nil, let handle else { return last + idleTimeout > now ? last + idleTimeout : nil }
            // What is left in buffers after the last read is sent without a word; hence the closer look.
            let uploaded = handle.uploadedBytes
            if uploaded != uploadedBytes { lastActivity = now }
            uploadedBytes = uploaded
            return last + idleTimeout > now || lastActivity == now ? now + max(idleTimeout / 8, 1) : nil
        }

        /// Nothing more is read from the body.
        func closeBody() {
            reader?.close()
            reader = nil
        }

        /// Goes on in a direction.
        func resume(_ direction: Int32) {
            guard let handle, pauses & direction != 0 else { return }
            pauses &= ~direction
            lastActivity = loop.now
            guard !handle.pause(pauses) else { return }
            // What libcurl had kept meanwhile was refused; it would wait for ever.
            failure = failure ?? NetworkError(.unknown, reason: "the exchange cannot go on")
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

    /// What libcurl calls.
    extension CurlExchange {
        /// A line of the head, or of the trailers.
        func receive(headerLine: UnsafeRawBufferPointer) -> Int {
            lastActivity = loop.now
            switch headReader.read(headerLine) {
            case .more:
                return headerLine.count
            case .head(let head):
                receive(head)
                return headerLine.count
            case .tooLarge:
                return abort(
                    NetworkError(
                        .responseTooLarge, reason: "the response's head has more than \(limits.headBytes) bytes"))
            case .malformed(let reason):
                return abort(NetworkError(.malformedResponse, reason: "the answer is not HTTP: \(reason)"))
            }
        }

        /// Bytes of the body, unpacked.
        func receive(body: UnsafeRawBufferPointer) -> Int {
            lastActivity = loop.now
            decodedBytes += body.count
            guard !isEncoded || decodedBytes <= limits.decodedBytes else {
                return abort(
                    NetworkError(
                        .responseTooLarge, reason: "the response unpacks to more than \(limits.decodedBytes) bytes"))
            }
            switch transfer.receive(body) {
            case .taken:
                return body.count
            case .full:
                decodedBytes -= body.count
                pauses |= CurlExchange.receiving
                return CCURL_WRITEFUNC_PAUSE
            case .abandoned:
                return 0
            }
        }

        /// The next bytes of the request's body.
        func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            guard let reader else { return 0 }
            do throws(NetworkError) {
                switch try reader.readNext(into: buffer) {
                case .bytes(let count):
                    lastActivity = loop.now
                    bytesRead += count
                    try checkLength(reader)
                    return count
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

        /// Libcurl wants to send the body once more, on a new connection: the one it had was dead.
        func rewind() -> Int32 {
            guard request.body.isReplayable, request.method.isIdempotent else {
                failure = NetworkError(
                    .connectionLostBeforeHead,
                    reason:
                        "the connection was lost, and \(request.method) with this body is not sent a second time unasked"
                )
                return Int32(CCURL_SEEKFUNC_FAIL)
            }
            closeBody()
            bytesRead = 0
            do {
                try open()
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
                let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
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

        private func receive(_ head: ResponseHead) {
            let encoding = head.headers[.contentEncoding]
            isEncoded = encoding != nil && encoding != "identity"
            if !isEncoded, let length = head.headers.contentLength, length > 0, request.method != .head {
                transfer.expect(bytes: length)
            }
            transfer.receiveHead(head, timing: handle?.timing ?? ResponseTiming())
        }

        private func abort(_ error: NetworkError) -> Int {
            failure = error
            return 0
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
