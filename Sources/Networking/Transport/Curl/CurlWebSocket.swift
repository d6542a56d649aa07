#if os(Linux)
    import CLibcurl
    import Foundation

    /// A WebSocket on a loop: its handshake, and its connection from then on.
    ///
    /// Exclusivity is not checked at run time, because only one thread uses the variables, and accesses do not overlap.
    final class CurlWebSocket: CurlSending, @unchecked Sendable {  // because only the loop's thread uses its variables
        /// What other threads ask for.
        enum Order {
            /// Connect.
            case start
            /// Send what waits, and read again.
            case serve
            /// End at once.
            case cancel(NetworkError)
        }

        /// The phase of the connection.
        enum Phase {
            case connecting
            /// The request is being sent, and its response is being read.
            case handshake
            /// The server has responded with 101.
            case open
            case ended
        }

        /// Bytes that are being sent. They stay at their address until libcurl has taken all of them.
        struct Chunk {
            let memory: UnsafeMutableRawBufferPointer
            var count = 0
            var sent = 0
            /// The messages that end in the chunk.
            var finished: [Settlement<Void>] = []
        }

        let order: WebSocketOrder
        let handshake: WebSocketHandshake
        let webSockets: CurlWebSockets
        let loop: CurlLoop
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
        /// Whether another turn is due in the next iteration.
        @exclusivity(unchecked) var isBusy = false
        @exclusivity(unchecked) private(set) var socket: Int32 = -1
        /// The time at which the WebSocket ends if nothing happens before.
        @exclusivity(unchecked) var due = UInt64.max
        @exclusivity(unchecked) var phase = Phase.connecting
        @exclusivity(unchecked) var chunk: Chunk?
        /// Whether libcurl did not take the whole chunk.
        @exclusivity(unchecked) var isBlocked = false
        @exclusivity(unchecked) var writer: WebSocketWriter
        @exclusivity(unchecked) var response: WebSocketResponse
        @exclusivity(unchecked) var decoder: WebSocketDecoder?
        /// Bytes that have arrived while the inbox was full.
        @exclusivity(unchecked) var unread = Data()
        /// The fault of the peer, which has been reported to the peer; nil if there was none.
        @exclusivity(unchecked) var fault: NetworkError?
        /// Whether nothing can be sent any more, although there may be more to read.
        @exclusivity(unchecked) var isSendingOver = false
        /// Whether the close frame of the peer has arrived.
        @exclusivity(unchecked) var isClosedByPeer = false

        init(
            _ request: HTTPRequest, _ order: WebSocketOrder, delivering delivery: BodyDelivery,
            headLimit: Int, loop: CurlLoop, owner: any AnyObject & Sendable
        ) throws {
            let handshake = WebSocketHandshake(for: order)
            self.order = order
            self.handshake = handshake
            self.loop = loop
            self.owner = owner
            webSockets = loop.webSockets
            writer = WebSocketWriter(outbox, masks: true)
            response = WebSocketResponse(to: request.method, headLimit: headLimit)
            super.init(
                request,
                Transfer(request, delivering: delivery) { BytePipe(capacity: RejectedBody.maximumSize) })
        }

        /// Asks the loop for something. May be called from any thread.
        func ask(_ order: Order) { loop.post(.webSocket(self, order)) }

        override func cancel() { ask(.cancel(NetworkError(.cancelled))) }

        /// Sets a time limit for connecting, in case libcurl does not notice that the connect timeout has passed.
        func beginConnecting() {
            let limit = request.timeouts.effectiveConnect.nanoseconds
            setDue(webSockets.now.adding(UInt64(max(limit, 0))).adding(500_000_000))
        }

        var isConnecting: Bool { if case .connecting = phase { true } else { false } }
        var isOpen: Bool { if case .open = phase { true } else { false } }
        var isEnded: Bool { if case .ended = phase { true } else { false } }

        private var idle: UInt64 { UInt64(max(request.timeouts.effectiveIdle.nanoseconds, 1)) }

        func setDue(_ time: UInt64) {
            due = time
            webSockets.watch(self)
        }
    }

    extension CurlWebSocket: WebSocketConnection {
        func serve() { ask(.serve) }

        func drop(_ error: NetworkError) { ask(.cancel(error)) }
    }

    /// The turns of a connection.
    extension CurlWebSocket {
        /// Sends the request, because the connection has been established.
        func begin(on socket: Int32) {
            guard socket >= 0 else { return end(NetworkError(.connectionLostBeforeHead)) }
            self.socket = socket
            handle?.use(socket)  // the last socket that libcurl waited for may be that of another address
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
            // The close frame may wait behind messages that the peer does not take.
            if outbox.closing != nil, due == .max { setDue(webSockets.now.adding(CurlWebSocket.closingTime)) }
            read()
            write()
            wait()
        }

        /// Sets the events that the loop waits for.
        private func wait() {
            guard !isEnded else { return }
            let wasPaused = activity.withLock { $0.isPaused }
            let isPaused = updatePause()
            // OpenSSL may have more, for which there is no event.
            if wasPaused, !isPaused { webSockets.continueLater(self) }
            let events = (isPaused ? 0 : CCURL_POLL_IN) | (isBlocked ? CCURL_POLL_OUT : 0)
            webSockets.sockets.take(Int32(events), on: socket)
        }

        /// The maximum number of pieces that are read or written in one turn, so that other connections get their
        /// turns.
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
                    guard unread.isEmpty, !webSockets.isTurnOver() else { break }
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
            let mayPause = isOpen && writer.closed == nil && !isClosedByPeer && outbox.closing == nil
            let isPaused = mayPause && inbox.isFull()
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
            // At least one piece is sent in each turn, however many bytes arrive.
            for piece in 0..<CurlWebSocket.mostPieces where piece == 0 || !webSockets.isTurnOver() {
                guard let next = chunk ?? nextChunk() else { return }
                chunk = next
                var count = 0
                let result = clibcurl_easy_send(
                    handle.easy, next.memory.baseAddress?.advanced(by: next.sent), next.count - next.sent, &count)
                guard result == CCURLE_OK || result == CCURLE_AGAIN else { return loseSending(result) }
                chunk?.sent += count
                // There was room for more bytes, so the peer has taken some.
                if isBlocked, count > 0 { activity.withLock { $0.arrivals += 1 } }
                isBlocked = next.sent + count < next.count
                guard !isBlocked else { return }
                chunk = nil
                giveBack(next)
                for isSent in next.finished { isSent.settle(.success(())) }
            }
            webSockets.continueLater(self)
        }

        private func nextChunk() -> Chunk? {
            guard isOpen, !isSendingOver else { return nil }
            var chunk = Chunk(memory: webSockets.takeMemory())
            chunk.count = writer.fill(chunk.memory, finished: &chunk.finished)
            guard chunk.count > 0 else {
                giveBack(chunk)
                return nil
            }
            if writer.closed != nil, due == .max { setDue(webSockets.now.adding(CurlWebSocket.closingTime)) }
            return chunk
        }

        func giveBack(_ chunk: Chunk) {
            if chunk.memory.count == WebSocketWriter.chunkSize {
                webSockets.giveBack(chunk.memory)
            } else {
                chunk.memory.deallocate()
            }
        }
    }
#endif
