#if os(Linux)
    import CLibcurl

    /// The WebSockets of a loop, on its thread.
    ///
    /// libcurl opens their connections (`CURLOPT_CONNECT_ONLY`), with the configured proxies, TLS settings and
    /// addresses. From then on, the loop itself waits for their sockets. WebSockets have a multi handle of their own,
    /// so that they take no connection from the requests. With a common handle, libcurl would also close an open but
    /// still unused WebSocket connection whenever a request begins. The handle is released when the last WebSocket has
    /// ended, because before 7.85, libcurl keeps the file descriptors of connections that have ended.
    ///
    /// Exclusivity is not checked at run time, because only one thread uses the object, and accesses do not overlap.
    final class CurlWebSockets {
        private let surroundings: CurlHandle.Surroundings
        private let pace: CurlPace
        @exclusivity(unchecked) private var multi: CurlMulti?
        @exclusivity(unchecked) private var active: [CurlWebSocket] = []
        /// The open connections, by their sockets.
        @exclusivity(unchecked) private var open: [Int32: CurlWebSocket] = [:]
        /// The WebSockets that have more to do in the next iteration.
        @exclusivity(unchecked) private var busy: [CurlWebSocket] = []
        /// The handles without a WebSocket that libcurl still has: see ``CurlFault/joinedLookups``.
        @exclusivity(unchecked) private var abandoned: [CurlHandle] = []
        @exclusivity(unchecked) private var nextCheck = UInt64.max
        @exclusivity(unchecked) private var spare: [UnsafeMutableRawBufferPointer] = []
        @exclusivity(unchecked) private(set) var now: UInt64 = 0

        init(in surroundings: CurlHandle.Surroundings, _ pace: CurlPace) {
            self.surroundings = surroundings
            self.pace = pace
        }

        deinit {
            for memory in spare { memory.deallocate() }
        }

        var sockets: CurlSockets { surroundings.sockets }

        /// The time at which the loop has to call ``run(at:)``.
        var due: UInt64 { busy.isEmpty ? min(nextCheck, multi?.timer ?? .max) : 0 }

        /// Follows an order of a WebSocket.
        func follow(_ order: CurlWebSocket.Order, of webSocket: CurlWebSocket, at now: UInt64) {
            self.now = now
            switch order {
            case .start: start(webSocket)
            case .serve: webSocket.turn()
            case .cancel(let error): webSocket.cancel(error)
            }
        }

        private func start(_ webSocket: CurlWebSocket) {
            webSocket.index = active.count
            active.append(webSocket)
            do {
                let handle = try CurlHandle(in: surroundings)
                try handle.prepare(for: webSocket)
                webSocket.handle = handle
                let multi = try multi ?? CurlMulti(on: sockets, isForWebSockets: true)
                self.multi = multi
                guard clibcurl_multi_add(multi.pointer, handle.easy) == 0 else {
                    throw NetworkError(.unknown, reason: "libcurl does not accept the request")
                }
                webSocket.beginConnecting()
            } catch {
                webSocket.end(NetworkError.wrapping(error))
            }
        }

        /// Handles an event of a socket. If the socket is still connecting, passes the event to libcurl.
        func handle(_ event: clibcurl_event) {
            now = sockets.now
            if let webSocket = open[event.socket] { return webSocket.turn() }
            guard let multi else { return sockets.forget(event.socket) }
            clibcurl_multi_socket_action(multi.pointer, event.socket, event.events)
        }

        /// Continues everything that is due.
        func run(at now: UInt64) {
            guard multi != nil else { return }
            self.now = now
            collect()  // before another connection begins: libcurl closes open connections that were never used
            multi?.runTimer(at: now, pace)
            collect()
            if !busy.isEmpty {
                let turns = busy
                busy = []
                for webSocket in turns {
                    webSocket.isBusy = false
                    pace.begin(oneOf: turns.count)
                    webSocket.turn()
                }
            }
            if now >= nextCheck { checkTimes() }
            if active.isEmpty, abandoned.isEmpty { (multi, nextCheck) = (nil, .max) }
        }

        /// Takes the connections that are established.
        private func collect() {
            var result: Int32 = 0
            while let multi, let easy = clibcurl_multi_next_ended(multi.pointer, &result) {
                guard let handle = CurlHandle.of(easy) else { continue }
                handle.noteLookup(false)
                guard let webSocket = handle.webSocket else {
                    clibcurl_multi_remove(multi.pointer, easy)
                    abandoned.removeAll { $0 === handle }
                    continue
                }
                guard result == CCURLE_OK else {
                    let isTooLarge = handle.tunnel?.isTooLarge == true
                    webSocket.end(isTooLarge ? CurlTunnel.tooLarge : handle.failure(result))
                    continue
                }
                // libcurl may close an open connection that was never used, so each new connection sends at once.
                pace.begin(oneOf: active.count)
                webSocket.begin(on: clibcurl_easy_get_socket(easy))
            }
        }

        /// Ends the WebSockets whose time is over.
        private func checkTimes() {
            nextCheck = .max
            for webSocket in active {
                if webSocket.due <= now { webSocket.endLate() }
                if webSocket.isConnecting {
                    nextCheck = min(nextCheck, now &+ CurlLoop.connectingInterval)
                    // See CurlFault.forgottenAddresses.
                    if webSocket.handle?.isForgotten == true, let multi { clibcurl_multi_socket_all(multi.pointer) }
                }
                nextCheck = min(nextCheck, webSocket.due)
            }
        }

        /// Lets the loop check the time limits of a WebSocket.
        func watch(_ webSocket: CurlWebSocket) {
            let connecting =
                webSocket.isConnecting && surroundings.library.has(.forgottenAddresses)
                ? now &+ CurlLoop.connectingInterval : .max
            nextCheck = min(nextCheck, webSocket.due, connecting)
        }

        /// Lets a WebSocket have a turn in the next iteration, after the others.
        func continueLater(_ webSocket: CurlWebSocket) {
            guard !webSocket.isBusy else { return }
            webSocket.isBusy = true
            busy.append(webSocket)
        }

        /// Returns whether the time of the current turn is over, so that other exchanges get their turns.
        func isTurnOver() -> Bool { pace.isOver() }

        /// Records that a WebSocket has a connection.
        func open(_ webSocket: CurlWebSocket, on socket: Int32) { open[socket] = webSocket }

        /// Removes a WebSocket that has ended, and closes its connection.
        func remove(_ webSocket: CurlWebSocket) {
            guard active.indices.contains(webSocket.index), active[webSocket.index] === webSocket else { return }
            active.swapAt(webSocket.index, active.count - 1)
            active[webSocket.index].index = webSocket.index
            active.removeLast()
            busy.removeAll { $0 === webSocket }
            // If libcurl has closed the socket, another connection may have its number.
            if webSocket.socket >= 0, let handle = webSocket.handle, sockets.isCurrent(handle.connection) {
                open[webSocket.socket] = nil
                sockets.take(0, on: webSocket.socket)
                sockets.forget(webSocket.socket)
                sockets.update(webSocket.socket) { $0.isTaken = false }
                clibcurl_socket_shutdown(webSocket.socket)  // before 7.85, libcurl closes it later
            }
            guard let handle = webSocket.handle else { return }
            webSocket.handle = nil
            handle.webSocket = nil
            if handle.isLookingUp {
                handle.abandon()
                abandoned.append(handle)
            } else if let multi {
                clibcurl_multi_remove(multi.pointer, handle.easy)
            }
            handle.noteEnd()
        }

        /// Closes all WebSockets with code 1001, because the transport is shutting down.
        func closeAll(at now: UInt64) {
            self.now = now
            for webSocket in active {
                pace.begin(oneOf: active.count)
                webSocket.leave()
            }
        }

        /// Ends all WebSockets, because the loop ends.
        func stop() {
            for webSocket in active {
                pace.begin(oneOf: active.count)
                webSocket.leave()
                webSocket.end(NetworkError(.transportShutDown))
            }
            for handle in abandoned { if let multi { clibcurl_multi_remove(multi.pointer, handle.easy) } }
            abandoned = []
            multi = nil
        }

        /// Takes memory for a chunk. The memory is given back when the chunk has been sent.
        func takeMemory() -> UnsafeMutableRawBufferPointer {
            spare.popLast() ?? .allocate(byteCount: WebSocketWriter.chunkSize, alignment: 16)
        }

        func giveBack(_ memory: UnsafeMutableRawBufferPointer) {
            guard spare.count < 4 else { return memory.deallocate() }
            spare.append(memory)
        }
    }
#endif
