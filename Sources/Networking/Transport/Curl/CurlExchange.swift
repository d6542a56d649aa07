#if os(Linux)
    import CLibcurl

    /// One exchange on a loop: connects libcurl's callbacks with a request's body and a transfer.
    ///
    /// Everything but ``cancel()`` and ``init(_:delivering:configuration:loop:owner:)`` runs on the loop's thread.
    final class CurlExchange: @unchecked Sendable {  // because its variables are touched only on the loop's thread
        let request: HTTPRequest
        let transfer: Transfer
        /// The handle of the attempt in progress; nil before and after.
        var handle: CurlHandle?
        /// An error that was found on our side, and ended the exchange.
        private(set) var failure: NetworkError?
        private let loop: CurlLoop
        /// The transport, which lives as long as the exchange.
        private let owner: any AnyObject & Sendable
        private var body: OutgoingBody
        private var response: CurlResponse
        private var activity: CurlActivity
        private var pauses: Int32 = 0
        /// The number of times that the engine has sent the request again.
        private var repeats = 0
        /// The number of times that libcurl began to send the request on ``handle``.
        private var sends = 0
        /// The connection in use.
        private var connection: CurlStreamLog.Connection?
        private var stream: CurlStreamLog.Stream?

        /// Opens the body.
        init(
            _ request: HTTPRequest, delivering delivery: BodyDelivery, configuration: CurlTransport.Configuration,
            loop: CurlLoop,
            owner: any AnyObject & Sendable
        ) throws {
            self.request = request
            self.loop = loop
            self.owner = owner
            var mailbox: CurlMailbox?
            transfer = Transfer(request, delivering: delivery) {
                let box = CurlMailbox(loop)
                mailbox = box
                return BytePipe(
                    capacity: configuration.limits.bufferedBytes,
                    onRoom: { box.post { .resume($0, CurlExchange.receiving) } },
                    onAbandon: { box.post { .cancel($0) } })
            }
            body = OutgoingBody(of: request)
            response = CurlResponse(to: transfer, configuration)
            activity = CurlActivity(request.timeouts)
            mailbox?.exchange = self
            try openBody()
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
            let uploaded = !body.isOpen || isHeldBack ? nil : handle?.uploadedBytes
            return activity.status(at: now, isHeldBack: isHeldBack, uploaded: uploaded)
        }

        /// Nothing more is read from the body.
        func closeBody() {
            body.close()
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

        private func openBody() throws(NetworkError) {
            guard !request.body.isEmpty else { return }
            let mailbox = CurlMailbox(loop, exchange: self)
            try body.open { mailbox.post { .resume($0, CurlExchange.sending) } }
        }
    }

    /// Repeating the request.
    extension CurlExchange {
        /// Whether the request is to be sent on a new connection, because two kept ones have failed.
        var needsNewConnection: Bool { repeats > 1 }

        /// Whether any byte of a response has arrived.
        var hasReceived: Bool { response.hasBegun }

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
        func prepareToRepeat() throws(NetworkError) {
            repeats += 1
            sends = 0
            stream = nil
            try reopenBody()
        }

        private func reopenBody() throws(NetworkError) {
            body.close()
            pauses &= ~CurlExchange.sending
            try openBody()
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
            guard sends > 1, body.bytesRead > 0 else { return Int32(CCURL_PREREQFUNC_OK) }
            return rewind() == CCURL_SEEKFUNC_OK ? Int32(CCURL_PREREQFUNC_OK) : Int32(CCURL_PREREQFUNC_ABORT)
        }

        /// The next bytes of the request's body.
        func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            do throws(NetworkError) {
                switch try body.read(into: buffer) {
                case .bytes(let count):
                    activity.note(at: loop.now)
                    return count
                case .end:
                    return 0
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
            do throws(NetworkError) {
                try reopenBody()
                return Int32(CCURL_SEEKFUNC_OK)
            } catch {
                failure = error
                return Int32(CCURL_SEEKFUNC_FAIL)
            }
        }

        /// A line of the head, or of the trailers.
        func receive(headerLine: UnsafeRawBufferPointer) -> Int {
            activity.note(at: loop.now)
            do throws(NetworkError) {
                guard let head = try response.receive(line: headerLine) else { return headerLine.count }
                if head.isExclusive { handle?.noteExclusiveConnection() }
                transfer.receiveHead(head, timing: handle?.timing ?? HTTPResponse.Timing())
                return headerLine.count
            } catch {
                failure = error
                return 0
            }
        }

        /// Bytes of the response's body.
        func receive(body bytes: UnsafeRawBufferPointer) -> Int {
            activity.note(at: loop.now)
            do throws(NetworkError) {
                if try response.receive(body: bytes) { return bytes.count }
                pauses |= CurlExchange.receiving
                handle?.notePause()
                return CCURL_WRITEFUNC_PAUSE
            } catch {
                if error.kind != .cancelled { failure = error }
                return 0
            }
        }

        /// The response has ended as far as libcurl can tell.
        func finishResponse() -> Result<Void, NetworkError> {
            Result { () throws(NetworkError) in try response.finish() }
        }
    }
#endif
