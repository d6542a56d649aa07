#if os(Linux)
    import CLibcurl
    import Foundation

    /// The end.
    extension CurlWebSocket {
        /// The time in which the peer must answer a close frame.
        static let closingTime: UInt64 = 5_000_000_000
        /// The time in which the peer must close the connection after both close frames (RFC 6455 section 7.1.1).
        static let lingeringTime: UInt64 = 1_000_000_000

        /// Handles the close frame of the peer. Answers the frame, unless this side has already sent a close frame.
        func noteClose(_ close: WebSocketClose) {
            isClosedByPeer = true
            inbox.finish(.success(writer.closed ?? close))
            writer.finish(NetworkError(.webSocketClosed, underlying: close))
            writer.close(close.code == .none ? WebSocketClose(.none) : WebSocketClose(close.code))
            setDue(webSockets.now.adding(CurlWebSocket.lingeringTime))
        }

        /// Ends the WebSocket, because the time of its phase is over.
        func endLate() {
            if isConnecting { return end(NetworkError(.connectTimedOut)) }
            if case .handshake = phase { return end(NetworkError(.idleTimedOut)) }
            // The peer did not answer, or did not close the connection in time, or the last messages of the peer were
            // not read.
            end(isSendingOver ? .webSocketLost : closingError)
        }

        /// Ends the WebSocket, because its connection has ended.
        func lose(_ code: Int32) {
            switch phase {
            case .handshake where response.hasBegun:
                if let error = response.errorAtClosure() { return end(error) }
                guard code == CCURLE_OK else { return end(NetworkError(.truncatedBody)) }
                finishRefusal()
            case .handshake:
                // The second code says that libcurl no longer has the connection.
                let isGone = [CCURLE_OK, CCURLE_UNSUPPORTED_PROTOCOL].contains(Int(code))
                let code = isGone ? Int32(CCURLE_GOT_NOTHING) : code
                end(handle?.failure(code).hintingAtCertificate(request) ?? NetworkError(.connectionLostBeforeHead))
            default:
                end(isClosedByPeer || writer.closed != nil ? closingError : NetworkError.webSocketLost)
            }
        }

        /// Ends the sending after a failure. Reading continues, because a response or a close frame may still arrive.
        func loseSending(_ code: Int32) {
            isBlocked = false
            if let chunk {
                for isSent in chunk.finished { isSent.settle(.failure(NetworkError.webSocketLost)) }
                giveBack(chunk)
            }
            chunk = nil
            isSendingOver = true
            writer.finish(NetworkError.webSocketLost)
            // The messages that have arrived may wait for a reader, and this reader may itself wait until a message is
            // sent.
            if due == .max { setDue(webSockets.now.adding(CurlWebSocket.closingTime)) }
            webSockets.continueLater(self)  // reading ends with the messages, or the response, that have arrived
        }

        /// The error for callers that still try to send when the connection is closed.
        private var closingError: NetworkError { fault ?? .webSocketIsClosing }

        /// Begins to close the connection with code 1001. The messages that wait to be sent are dropped.
        func leave() {
            guard isOpen else { return }
            writer.finish(NetworkError(.transportShutDown))
            inbox.finish(.failure(NetworkError(.transportShutDown)))
            writer.close(WebSocketClose(.goingAway))
            turn()
        }

        /// Ends the WebSocket, because its caller no longer waits. If the open connection is already in the
        /// ``WebSocketOrder``, no caller takes it from there any more, so it is released.
        func cancel(_ error: NetworkError) {
            end(error)
            withExtendedLifetime(order.take()) {}
        }

        /// Ends the WebSocket.
        ///
        /// - Parameter error: The error for waiting calls, unless they have already received another outcome.
        func end(_ error: NetworkError) {
            guard !isEnded else { return }
            let wasOpen = isOpen
            phase = .ended
            due = .max
            if let chunk {
                for isSent in chunk.finished { isSent.settle(.failure(error)) }
                giveBack(chunk)
            }
            chunk = nil
            writer.finish(error)
            inbox.finish(writer.closed.map { fault == nil ? .success($0) : .failure(error) } ?? .failure(error))
            if !wasOpen { transfer.fail(error) }
            webSockets.remove(self)
            if !wasOpen { loop.loads.end(on: loop.index) }
            loop.loads.endWebSocket(on: loop.index)
            ending.settle(.success(()))
        }
    }

    extension NetworkError {
        /// With TLS 1.3, a server that requires a client certificate refuses a client that has none. The refusal
        /// follows only after the TLS handshake, often without an error message. By then, libcurl has established the
        /// connection.
        fileprivate func hintingAtCertificate(_ request: HTTPRequest) -> NetworkError {
            guard kind == .connectionLostBeforeHead, request.url.scheme?.lowercased() == "https" else { return self }
            var error = self
            error.reason =
                (reason ?? kind.explanation)
                + "; perhaps the server requires a client certificate (tls.clientCertificate)"
            return error
        }
    }
#endif
