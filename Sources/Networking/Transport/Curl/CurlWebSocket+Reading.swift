#if os(Linux)
    import CLibcurl

    /// The handshake and its response.
    extension CurlWebSocket {
        func readResponse(_ input: inout UnsafeRawBufferPointer) {
            do throws(NetworkError) {
                while case .handshake = phase, let event = try response.next(&input) {
                    switch event {
                    case .head(let head):
                        handle?.note(head)
                        transfer.receiveHead(
                            head, switchesProtocols: head.status == .switchingProtocols,
                            facts: handle?.facts ?? .init(),
                            stop: { [weak self] in self?.ask(.cancel(NetworkError(.cancelled))) })
                        if head.status == .switchingProtocols { try open(head) }
                    case .body(let bytes):
                        // If the transfer does not take the bytes, it has ended.
                        if transfer.receive(bytes) != .taken { end(NetworkError(.cancelled)) }
                    case .end:
                        finishRefusal()
                    }
                }
            } catch {
                end(error)
            }
        }

        /// Ends the handshake, after a response without status 101 has been read to its end.
        func finishRefusal() {
            transfer.finish(handle?.facts ?? .init())
            end(NetworkError(.unknown))
        }

        private func open(_ head: ResponseHead) throws(NetworkError) {
            let agreement: WebSocketHandshake.Agreement
            do throws(WebSocketFault) { agreement = try handshake.agreement(with: head.headers) } catch {
                throw error.networkError
            }
            let compression = agreement.compression
            decoder = WebSocketDecoder(
                expectsMask: false, messageLimit: order.maximumMessageSize,
                inflater: compression.map { WebSocketInflater(keepsContext: $0.serverKeepsContext) })
            phase = .open
            due = .max
            order.fulfil(
                with: BufferedWebSocketChannel(
                    self, subprotocol: agreement.subprotocol, compression: compression))
            transfer.finish(handle?.facts ?? .init())
            loop.loads.end(on: loop.index)  // a WebSocket counts as a request until its response
        }

        func readFrames(_ input: inout UnsafeRawBufferPointer) {
            do throws(WebSocketFault) {
                while isOpen, fault == nil {
                    let isFull = !isClosedByPeer && writer.closed == nil && outbox.closing == nil && inbox.isFull()
                    if !input.isEmpty, isFull || webSockets.isTurnOver() {
                        unread.append(contentsOf: input)
                        return
                    }
                    guard let event = try decoder?.next(&input) else { return }
                    switch event {
                    case .message(let message):
                        activity.withLock { $0.messages += 1 }
                        if writer.closed == nil { inbox.put(message) }
                    case .ping(let payload): writer.pong(payload)
                    case .pong: break
                    case .close(let close): noteClose(close)
                    }
                }
            } catch {
                fault = error.networkError
                inbox.finish(.failure(error.networkError))
                writer.finish(error.networkError)
                writer.close(WebSocketClose(error.code, reason: error.reason))
                setDue(webSockets.now.adding(CurlWebSocket.lingeringTime))
            }
        }
    }
#endif
