#if os(Linux)
    import CLibcurl

    /// Repeating the request.
    extension CurlExchange {
        /// Whether the request must be sent on a new connection, because the engine has already repeated it twice.
        var needsNewConnection: Bool { repeats > 1 }

        /// Whether nothing of the request has been sent yet. (Before libcurl 7.80, this is true until a response
        /// arrives.)
        var isConnecting: Bool { sends == 0 && !hasReceived && body.bytesRead == 0 }

        /// Whether any byte of a response has arrived.
        var hasReceived: Bool { response.hasBegun }

        /// Returns whether the request may be sent again after libcurl has given up. The request may be sent again once
        /// if the server refused its stream, unless the server closed the connection because of an error. A repeatable
        /// request may also be sent again if a reused connection was lost before the first byte of a response. So may
        /// any request that libcurl has tried to send on a connection that had ended. (libcurl itself repeats most
        /// requests whose streams were refused.)
        func mayRepeat(after code: Int32) -> Bool {
            guard failure == nil, !hasReceived, request.body.isReplayable else { return false }
            let isRefused = stream.map { loop.streamLog.isRefused($0) } ?? false
            if isRefused || handle?.hasOnlyBeenRefused(code) == true {
                let isAsked = stream.map { loop.streamLog.isEndedByError($0) } ?? false
                if repeats == 0, sends < 2, !isAsked { return true }
                failure = NetworkError(.notProcessed)
                return false
            }
            let isUnsent = code == CCURLE_SEND_ERROR && handle?.isOnEndedConnection == true
            return (request.isRepeatable || isUnsent) && repeats < 2 && CurlFailure.isConnectionLoss(code)
                && handle?.isOnKeptConnection == true
        }

        /// Reads a line of libcurl's log. Used only with versions of libcurl for which the engine needs the log.
        func noteLog(_ line: UnsafeRawBufferPointer) {
            guard let connection else { return }
            if let stream = loop.streamLog.read(line, on: connection) { self.stream = stream }
        }

        /// Counts a TLS record that has arrived, or a step of libcurl, to detect ``CurlFault/heldLoops``.
        ///
        /// - Returns: Whether libcurl may continue. If not, the connection has been ended.
        @discardableResult
        func mayGoOn() -> Bool {
            guard hold.noteEvent(of: loop.pace.calls) else { return true }
            failure =
                failure
                ?? NetworkError(
                    .malformedResponse,
                    reason: "the server sent frames without an end, so the engine ended the connection")
            handle?.endConnection()
            return false
        }

        /// Opens the body again, for another attempt.
        func prepareToRepeat() throws(NetworkError) {
            repeats += 1
            sends = 0
            stream = nil
            try reopenBody()
        }

        func reopenBody() throws(NetworkError) {
            body.close()
            pauses &= ~CurlExchange.sending
            try openBody()
        }
    }
#endif
