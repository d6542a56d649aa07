#if os(Linux)
    import CLibcurl

    /// One exchange on a loop. It connects libcurl's callbacks with a request's body and a transfer.
    ///
    /// Exclusivity is not checked at run time, because only one thread uses the variables, and accesses do not overlap.
    /// All methods except ``cancel()``, ``askToResume(_:)`` and ``init(_:delivering:loop:owner:)`` run on
    /// the loop's thread.
    final class CurlExchange: CurlSending, @unchecked Sendable {  // because only the loop's thread uses its variables
        /// The handle of the attempt in progress; nil before and after the attempt.
        @exclusivity(unchecked) var handle: CurlHandle?
        /// The error that the engine itself has detected; nil if it has detected none. The exchange ends with this
        /// error, even if libcurl reports another error.
        @exclusivity(unchecked) var failure: NetworkError?
        let loop: CurlLoop
        /// The transport, retained as long as the exchange exists.
        private let owner: any AnyObject & Sendable
        @exclusivity(unchecked) var body: OutgoingBody
        /// The number of bytes of a small body that have not been reported as sent.
        @exclusivity(unchecked) var takenBytes = 0
        @exclusivity(unchecked) var response: CurlResponse
        @exclusivity(unchecked) var activity: CurlActivity
        @exclusivity(unchecked) var pauses: Int32 = 0
        @exclusivity(unchecked) var hold = CurlHold()
        /// The number of times that the engine has sent the request again.
        @exclusivity(unchecked) var repeats = 0
        /// The number of times that libcurl began to send the request on ``handle``.
        @exclusivity(unchecked) var sends = 0
        /// Whether the exchange ends with the response that has arrived, although libcurl is about to send the request
        /// again.
        @exclusivity(unchecked) private(set) var isAnswered = false
        /// The result of the exchange; nil after the caller has been notified.
        @exclusivity(unchecked) var outcome: Result<TransferFacts, NetworkError>?
        /// The connection in use.
        @exclusivity(unchecked) var connection: CurlStreamLog.Connection?
        @exclusivity(unchecked) var stream: CurlStreamLog.Stream?

        /// Creates an exchange and opens the request's body.
        @inline(__always)  // otherwise the loop and its owner are retained twice
        init(
            _ request: HTTPRequest, delivering delivery: BodyDelivery, loop: CurlLoop, owner: any AnyObject & Sendable
        ) throws {
            self.loop = loop
            self.owner = owner
            // The reader of the response's body does not retain the exchange.
            var reader: Weak<CurlExchange>?
            let transfer = Transfer(request, delivering: delivery) {
                let me = Weak<CurlExchange>()
                reader = me
                return BytePipe(
                    capacity: loop.limits.bufferedBytes,
                    onRoom: { me.object?.askToResume(CurlExchange.receiving) }, onAbandon: { me.object?.cancel() })
            }
            body = OutgoingBody(of: request)
            response = CurlResponse(to: transfer, on: loop)
            activity = CurlActivity(request.timeouts)
            super.init(request, transfer)
            reader?.object = self
            try openBody()
        }

        /// Asks the loop to end the exchange, because its caller no longer waits. May be called from any thread.
        override func cancel() {
            loop.post(.cancel(self))
        }

        /// Asks the loop to resume a paused direction. May be called from any thread.
        private func askToResume(_ direction: Int32) {
            loop.post(.resume(self, direction))
        }

        static let receiving = Int32(CCURLPAUSE_RECV)
        static let sending = Int32(CCURLPAUSE_SEND)

        /// Starts the timeouts.
        ///
        /// - Parameter mayWait: Whether the exchange may have to wait for a connection. If true, the idle timeout
        ///   starts only when the exchange has a connection or opens one.
        func begin(mayWait: Bool) {
            activity.begin(at: loop.now, isConnected: !mayWait)
        }

        /// Starts the idle timeout, because the exchange has a connection or opens one.
        func noteConnection() {
            activity.noteConnection(at: loop.now)
        }

        /// Lets the loop apply the connect timeout to a lookup that has begun.
        func noteLookup() {
            loop.nextTimeoutCheck = min(loop.nextTimeoutCheck, activity.connectEnd)
        }

        /// Returns whether a timeout has passed, or when the next check is due. An exchange whose response waits for
        /// its reader is not idle.
        func timeoutStatus(at now: UInt64) -> CurlActivity.Status {
            if handle?.isLookingUp == true { return activity.statusOfLookup(at: now) }
            let isHeldBack = pauses & CurlExchange.receiving != 0
            if let arrival = handle?.lastArrival { activity.note(arrival: arrival) }
            // The number of sent bytes is checked, because libcurl calls no callback when it sends the last bytes that
            // it has read.
            let uploaded = !body.isOpen || isHeldBack ? nil : handle?.uploadedBytes
            return activity.status(at: now, isHeldBack: isHeldBack, uploaded: uploaded)
        }

        /// The idle timeout, in nanoseconds.
        var idleTimeout: UInt64 { activity.idle }

        /// Closes the request's body. Nothing more is read from it.
        func closeBody() {
            body.close()
        }

        /// Resumes a paused direction: ``receiving`` or ``sending``.
        func resume(_ direction: Int32) {
            guard let handle, pauses & direction != 0 else { return }
            pauses &= ~direction
            activity.note(at: loop.now)
            let code = handle.pause(pauses)
            // Without a connection, libcurl has already ended the exchange, and the loop is about to take the result.
            guard code != CCURLE_OK, code != CCURLE_BAD_FUNCTION_ARGUMENT else { return }
            // The connection was lost during the pause, or the exchange refused the bytes that libcurl had stored. The
            // exchange is ended, because libcurl would wait for ever.
            failure = failure ?? handle.failure(code)
            cancel()
        }

        func openBody() throws(NetworkError) {
            guard !request.body.isEmpty else { return }
            try body.open { [weak self] in self?.askToResume(CurlExchange.sending) }
        }
    }

    /// libcurl's callbacks.
    extension CurlExchange {
        /// Prepares for sending, when libcurl has a connection and is about to send the request. libcurl calls this
        /// method again if it repeats a request whose stream was refused.
        ///
        /// libcurl also repeats a request if the server responded with 417 to `Expect`, or reset the stream with
        /// HTTP_1_1_REQUIRED. If a response has begun, the server may have processed the request, so the request is not
        /// sent again. If the response has status 417, it is the outcome of the exchange. Otherwise, the exchange
        /// fails.
        ///
        /// - Returns: Whether libcurl may send the request.
        func beginSending(on connection: CurlStreamLog.Connection?) -> Bool {
            let refused = stream
            handle?.tunnel = nil
            self.connection = connection
            stream = nil
            noteConnection()
            sends += 1
            reportTakenBytes()
            if sends > 1, hasReceived {
                // A 417 is a response like any other (RFC 9110 section 15.5.18).
                isAnswered = response.status == 417
                guard !isAnswered else { return false }
                failure = NetworkError(
                    .connectionLostAfterHead,
                    reason:
                        "the server asked for the request in another form (417, or HTTP_1_1_REQUIRED), although it had begun to respond"
                )
                return false
            }
            if let refused, loop.streamLog.isEndedByError(refused) {
                failure = NetworkError(.notProcessed)
                return false
            }
            // libcurl repeats a refused request up to five times, without a delay. See also CurlFault.repeatsRequests.
            if sends > (repeats == 0 ? 2 : 1), handle?.library.has(.repeatsRequests) == false {
                failure = NetworkError(.notProcessed)
                return false
            }
            // The bytes of the body that libcurl had read but not sent are lost with the first connection.
            return sends == 1 || body.bytesRead == 0 || rewind() == CCURL_SEEKFUNC_OK
        }

        /// Reads the next bytes of the request's body into libcurl's buffer.
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

        /// Opens the body again, because libcurl sends the request again on another connection. The reason is that the
        /// server refused the stream, or that the connection was lost and the request is repeatable.
        func rewind() -> Int32 {
            guard request.body.isReplayable else {
                failure = NetworkError(
                    .connectionLostBeforeHead,
                    reason: "the connection was lost, and the body of the request cannot be read again")
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

        /// Receives a line of the head or of the trailers.
        func receive(headerLine: UnsafeRawBufferPointer) -> Int {
            activity.note(at: loop.now)
            if let goesOn = handle?.receive(tunnelLine: headerLine) {
                if handle?.tunnel?.isTooLarge == true {
                    failure = CurlTunnel.tooLarge
                }
                return goesOn ? headerLine.count : 0
            }
            do throws(NetworkError) {
                guard let head = try response.receive(line: headerLine) else { return headerLine.count }
                handle?.note(head)
                reportTakenBytes()
                transfer.receiveHead(head, facts: handle?.facts ?? .init(), stop: { [weak self] in self?.cancel() })
                return headerLine.count
            } catch {
                failure = error
                return 0
            }
        }

        /// Receives bytes of the response's body.
        func receive(body bytes: UnsafeRawBufferPointer) -> Int {
            activity.note(at: loop.now)
            do throws(NetworkError) {
                if loop.pace.mayTake(), try response.receive(body: bytes) { return bytes.count }
                if loop.pace.isOver() { askToResume(CurlExchange.receiving) }
                pauses |= CurlExchange.receiving
                handle?.notePause()
                return CCURL_WRITEFUNC_PAUSE
            } catch {
                if error.kind != .cancelled { failure = error }
                return 0
            }
        }

        /// Checks that the response is complete, after libcurl has reported the end of the response.
        func finishResponse() -> Result<Void, NetworkError> {
            Result { () throws(NetworkError) in try response.finish() }
        }
    }
#endif
