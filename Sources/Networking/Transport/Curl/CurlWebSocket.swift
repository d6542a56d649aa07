#if os(Linux)
    import CLibcurl
    import Foundation

    /// A WebSocket on a loop: its handshake, and its connection from then on.
    ///
    /// Exclusivity is not checked at run time, because only one thread uses the variables, and accesses do not overlap.
    final class CurlWebSocket: @unchecked Sendable {  // because only the loop's thread uses its variables
        /// What other threads ask for.
        enum Order {
            /// Connect.
            case start
            /// Send what waits, and read again.
            case serve
            /// End at once.
            case cancel(NetworkError)
        }

        /// What the connection has reached.
        private enum Phase {
            case connecting
            /// The request is being sent, and its response is being read.
            case handshake
            /// The server has responded with 101.
            case open
            case ended
        }

        /// Bytes that are being sent. They stay at their address until libcurl has taken all of them.
        private struct Chunk {
            let memory: UnsafeMutableRawBufferPointer
            var count = 0
            var sent = 0
            /// The messages that end in the chunk.
            var finished: [Settlement<Void>] = []
        }

        let request: HTTPRequest
        let transfer: Transfer
        private let order: WebSocketOrder
        private let handshake: WebSocketHandshake
        private let webSockets: CurlWebSockets
        private let loop: CurlLoop
        /// The transport, retained as long as the WebSocket exists.
        private let owner: any AnyObject & Sendable
        let inbox = WebSocketInbox()
        let outbox = WebSocketOutbox()
        let ending = Settlement<Void>()
        /// What has arrived so far.
        let activity = Locked(WebSocketActivity())

        @exclusivity(unchecked) var handle: CurlHandle?
        /// The position in the list of ``webSockets``.
        @exclusivity(unchecked) var index = 0
        @exclusivity(unchecked) private(set) var socket: Int32 = -1
        /// The time at which the WebSocket ends if nothing happens before.
        @exclusivity(unchecked) private(set) var due = UInt64.max
        @exclusivity(unchecked) private var phase = Phase.connecting
        @exclusivity(unchecked) private var chunk: Chunk?
        /// Whether libcurl did not take the whole chunk.
        @exclusivity(unchecked) private var isBlocked = false
        @exclusivity(unchecked) private var writer: WebSocketWriter
        @exclusivity(unchecked) private var response: WebSocketResponse
        @exclusivity(unchecked) private var decoder: WebSocketDecoder?
        /// Bytes that have arrived while the inbox was full.
        @exclusivity(unchecked) private var unread = Data()
        /// The fault of the peer, which was told to it; nil if there was none.
        @exclusivity(unchecked) private var fault: NetworkError?
        /// Whether the close frame of the peer has arrived.
        @exclusivity(unchecked) private var isClosedByPeer = false

        init(
            _ request: HTTPRequest, _ order: WebSocketOrder, delivering delivery: BodyDelivery,
            headLimit: Int, loop: CurlLoop, owner: any AnyObject & Sendable
        ) throws {
            let handshake = WebSocketHandshake(for: order)
            self.request = request
            self.order = order
            self.handshake = handshake
            self.loop = loop
            self.owner = owner
            webSockets = loop.webSockets
            transfer = Transfer(request, delivering: delivery) { BytePipe(capacity: RejectedBody.maximumSize) }
            writer = WebSocketWriter(outbox, masks: true)
            response = WebSocketResponse(to: request.method, headLimit: headLimit)
        }

        /// Asks the loop for something. May be called from any thread.
        func ask(_ order: Order) { loop.post(.webSocket(self, order)) }

        /// Starts on the loop.
        func start() throws {
            try loop.start(self)
        }

        /// Sets the time limit of the connection, in case libcurl does not notice that it has passed.
        func beginConnecting() {
            let limit = request.timeouts.effectiveConnect.nanoseconds
            setDue(webSockets.now.adding(UInt64(max(limit, 0))).adding(500_000_000))
        }

        var isConnecting: Bool { if case .connecting = phase { true } else { false } }
        private var isOpen: Bool { if case .open = phase { true } else { false } }
        private var isEnded: Bool { if case .ended = phase { true } else { false } }

        private var idle: UInt64 { UInt64(max(request.timeouts.effectiveIdle.nanoseconds, 1)) }

        private func setDue(_ time: UInt64) {
            due = time
            webSockets.watch(self)
        }
    }

    /// The turns of a connection.
    extension CurlWebSocket {
        /// The connection is established: sends the request.
        func begin(on socket: Int32) {
            guard socket >= 0 else { return end(NetworkError(.connectionLostBeforeHead)) }
            self.socket = socket
            phase = .handshake
            webSockets.open(self, on: socket)
            let head = handshake.head(of: request)
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(head.count, 1), alignment: 16)
            memory.copyBytes(from: head)
            chunk = Chunk(memory: memory, count: head.count)
            setDue(webSockets.now.adding(idle))
            turn()
        }

        /// Reads what has arrived, and sends what waits.
        func turn() {
            switch phase {
            case .connecting, .ended: return
            case .handshake, .open: break
            }
            read()
            write()
            wait()
        }

        /// Tells the loop which events to wait for.
        private func wait() {
            guard !isEnded else { return }
            let isPaused = activity.withLock { $0.isPaused }
            let events = (isPaused ? 0 : CCURL_POLL_IN) | (isBlocked ? CCURL_POLL_OUT : 0)
            webSockets.sockets.want(Int32(events), on: socket, forWebSocket: true)
        }

        /// The most pieces that are read or written in one turn, so that other connections have theirs.
        private static let mostPieces = 16

        private func read() {
            guard let handle else { return }
            if !unread.isEmpty {
                let bytes = unread
                unread = Data()
                bytes.withUnsafeBytes { consume($0) }
            }
            withUnsafeTemporaryAllocation(byteCount: WebSocketWriter.chunkSize, alignment: 16) { buffer in
                for _ in 0..<CurlWebSocket.mostPieces {
                    guard !isEnded, !updatePause() else { return }
                    var count = 0
                    let result = clibcurl_easy_recv(handle.easy, buffer.baseAddress, buffer.count, &count)
                    guard result != CCURLE_AGAIN else { return }
                    guard result == CCURLE_OK, count > 0 else { return lose(result) }
                    activity.withLock { $0.arrivals += 1 }
                    if case .handshake = phase { setDue(webSockets.now.adding(idle)) }
                    consume(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                }
                // OpenSSL may have more, for which there is no event.
                if !isEnded { webSockets.continueLater(self) }
            }
        }

        /// Returns whether the connection must not be read now, because messages wait for their reader.
        private func updatePause() -> Bool {
            let isPaused = isOpen && writer.closed == nil && !isClosedByPeer && (!unread.isEmpty || inbox.isFull())
            activity.withLock { $0.isPaused = isPaused }
            return isPaused
        }

        private func consume(_ bytes: UnsafeRawBufferPointer) {
            var input = bytes
            if case .handshake = phase { readResponse(&input) }
            if isOpen { readFrames(&input) }
        }

        private func write() {
            guard let handle else { return }
            for _ in 0..<CurlWebSocket.mostPieces {
                guard let next = chunk ?? nextChunk() else { return }
                chunk = next
                var count = 0
                let result = clibcurl_easy_send(
                    handle.easy, next.memory.baseAddress?.advanced(by: next.sent), next.count - next.sent, &count)
                guard result == CCURLE_OK || result == CCURLE_AGAIN else { return loseSending(result) }
                chunk?.sent += count
                isBlocked = next.sent + count < next.count
                guard !isBlocked else { return }
                chunk = nil
                giveBack(next)
                for isSent in next.finished { isSent.settle(.success(())) }
            }
            webSockets.continueLater(self)
        }

        private func nextChunk() -> Chunk? {
            guard isOpen else { return nil }
            var chunk = Chunk(memory: webSockets.takeMemory())
            chunk.count = writer.fill(chunk.memory, finished: &chunk.finished)
            guard chunk.count > 0 else {
                giveBack(chunk)
                return nil
            }
            if writer.closed != nil, due == .max { setDue(webSockets.now.adding(CurlWebSocket.closingTime)) }
            return chunk
        }

        private func giveBack(_ chunk: Chunk) {
            if chunk.memory.count == WebSocketWriter.chunkSize {
                webSockets.giveBack(chunk.memory)
            } else {
                chunk.memory.deallocate()
            }
        }
    }

    /// The handshake and its response.
    extension CurlWebSocket {
        private func readResponse(_ input: inout UnsafeRawBufferPointer) {
            do throws(NetworkError) {
                while case .handshake = phase, let event = try response.next(&input) {
                    switch event {
                    case .head(let head):
                        handle?.note(head)
                        transfer.receiveHead(
                            head, facts: handle?.facts ?? .init(),
                            stop: { [weak self] in self?.ask(.cancel(NetworkError(.cancelled))) })
                        if head.status == .switchingProtocols { try open(head) }
                    case .body(let bytes):
                        // The transfer has ended if it needs no more bytes.
                        if transfer.receive(bytes) != .taken { end(NetworkError(.cancelled)) }
                    case .end:
                        finishRefusal()
                    }
                }
            } catch {
                end(error)
            }
        }

        /// The response is no 101, and has been read.
        private func finishRefusal() {
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
            order.fulfil(with: CurlWebSocketChannel(self, agreement))
            transfer.finish(handle?.facts ?? .init())
            loop.loads.end(on: loop.index)  // it counts as a request until its response
        }

        private func readFrames(_ input: inout UnsafeRawBufferPointer) {
            do throws(WebSocketFault) {
                while isOpen, fault == nil {
                    if !isClosedByPeer, writer.closed == nil, inbox.isFull() {
                        unread.append(contentsOf: input)
                        return
                    }
                    guard let event = try decoder?.next(&input) else { return }
                    switch event {
                    case .message(let message): if writer.closed == nil { inbox.put(message) }
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

    /// The end.
    extension CurlWebSocket {
        /// The time in which the peer must answer a close frame.
        private static let closingTime: UInt64 = 5_000_000_000
        /// The time in which the peer closes a connection after both close frames (RFC 6455 section 7.1.1).
        private static let lingeringTime: UInt64 = 1_000_000_000

        /// The close frame of the peer has arrived. It is answered, unless this side closed first.
        private func noteClose(_ close: WebSocketClose) {
            isClosedByPeer = true
            inbox.finish(.success(writer.closed ?? close))
            writer.finish(NetworkError(.webSocketClosed, underlying: close))
            writer.close(close.code == .none ? WebSocketClose(.none) : WebSocketClose(close.code))
            setDue(webSockets.now.adding(CurlWebSocket.lingeringTime))
        }

        /// Ends because the time of the phase is over.
        func endLate() {
            if isConnecting { return end(NetworkError(.connectTimedOut)) }
            if case .handshake = phase { return end(NetworkError(.idleTimedOut)) }
            // The peer did not answer, or has not closed the connection in time.
            end(closingError)
        }

        /// The connection has ended.
        private func lose(_ code: Int32) {
            switch phase {
            case .handshake where response.hasBegun:
                if let error = response.errorAtClosure() { return end(error) }
                finishRefusal()
            case .handshake:
                let code = code == CCURLE_OK ? Int32(CCURLE_GOT_NOTHING) : code
                end(handle?.failure(code) ?? NetworkError(.connectionLostBeforeHead))
            default:
                end(isClosedByPeer || writer.closed != nil ? closingError : NetworkError.webSocketLost)
            }
        }

        /// A connection whose sending fails may still have a response, or a close frame, to read.
        private func loseSending(_ code: Int32) {
            isBlocked = false
            if let chunk {
                for isSent in chunk.finished { isSent.settle(.failure(NetworkError.webSocketLost)) }
                giveBack(chunk)
            }
            chunk = nil
            guard isOpen else { return end(handle?.failure(code) ?? NetworkError(.connectionLostBeforeHead)) }
            lose(code)
        }

        /// What those get who still want to send when the connection is closed.
        private var closingError: NetworkError { fault ?? .webSocketIsClosing }

        /// Begins to close the connection with code 1001, in place of what waits to be sent.
        func leave() {
            guard isOpen else { return }
            writer.finish(NetworkError(.transportShutDown))
            inbox.finish(.failure(NetworkError(.transportShutDown)))
            writer.close(WebSocketClose(.goingAway))
            turn()
        }

        /// Ends the WebSocket.
        ///
        /// - Parameter error: The error for those who wait, unless they have got another end.
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
            ending.settle(.success(()))
        }
    }

    extension NetworkError {
        /// The error of a connection that ended without a close frame.
        static var webSocketLost: NetworkError {
            NetworkError(.connectionLostAfterHead, reason: "the WebSocket's connection ended without a close frame")
        }
    }
#endif
