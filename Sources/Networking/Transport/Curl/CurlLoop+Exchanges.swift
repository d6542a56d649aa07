#if os(Linux)
    import CLibcurl

    /// The exchanges of the loop, on its thread: how they begin and end.
    extension CurlLoop {
        func follow(_ command: Command, oneOf count: Int) {
            pace.begin(oneOf: count)
            switch command {
            case .start(let exchange):
                begin(exchange)
            case .cancel(let exchange):
                guard let handle = exchange.handle else { return }
                // The caller may have waited until its deadline without a response. The connection may then be dead.
                if !exchange.hasReceived { handle.giveUpConnection(silentFor: 1_000_000_000) }
                end(handle, .failure(NetworkError(.cancelled)))
            case .count(let report):
                report(sockets.connections)
            case .resume(let exchange, let direction):
                exchange.resume(direction)
                multi.timer = 0  // see CurlFault.lostResumes
            case .webSocket(let webSocket, let order):
                webSockets.follow(order, of: webSocket, at: now)
            case .closeWebSockets:
                webSockets.closeAll(at: now)
            }
        }

        /// Begins an attempt. Its handle is created on this thread, because this thread also frees the handle. Freeing
        /// memory that another thread has allocated is much slower.
        private func begin(_ exchange: CurlExchange) {
            do {
                let handle = try makeHandle()
                try handle.prepare(for: exchange)
                attach(exchange, to: handle)
                add(handle)
            } catch {
                finish(exchange, .failure(NetworkError.wrapping(error)))
            }
        }

        func add(_ handle: CurlHandle) {
            guard clibcurl_multi_add(multi.pointer, handle.easy) != 0 else { return }
            end(handle, .failure(NetworkError(.unknown, reason: "libcurl does not accept the request")))
        }

        private func attach(_ exchange: CurlExchange, to handle: CurlHandle) {
            exchange.handle = handle
            handle.exchange = exchange
            handle.index = active.count
            active.append(handle)
            exchange.begin(mayWait: limits.mayWait)
            if library.has(.forgottenAddresses) || handle.mayBeWaiting {
                nextConnectingCheck = min(nextConnectingCheck, now &+ CurlLoop.connectingInterval)
            }
            if case .check(let time) = exchange.timeoutStatus(at: now) {
                nextTimeoutCheck = min(nextTimeoutCheck, time)
            }
        }

        /// Ends the exchange of a handle.
        func end(_ handle: CurlHandle, _ outcome: consuming Result<TransferFacts, NetworkError>) {
            if let exchange = detach(handle) { finish(exchange, outcome) }
        }

        /// Ends an exchange that has no handle. ``CurlOutcomes`` notifies the caller of the exchange later.
        private func finish(_ exchange: CurlExchange, _ outcome: consuming Result<TransferFacts, NetworkError>) {
            exchange.closeBody()
            limit(toConnections: loads.end(on: index, keeping: sockets.keptCount))
            exchange.outcome = outcome
            outcomes.add(exchange)
        }

        /// Records how many connections this loop keeps now.
        func countConnections() { limit(toConnections: loads.keep(sockets.keptCount, on: index)) }

        /// Tells libcurl how many connections this loop may keep.
        private func limit(toConnections count: Int) {
            guard count != mostConnections else { return }
            mostConnections = count
            multi.set(CCURLMOPT_MAXCONNECTS, count)
        }

        /// Separates an exchange from its handle, and removes the handle from libcurl.
        private func detach(_ handle: CurlHandle) -> CurlExchange? {
            guard let exchange = handle.exchange else { return nil }
            if handle.isLookingUp {
                handle.abandon()
                abandoned.append(handle)
            } else {
                clibcurl_multi_remove(multi.pointer, handle.easy)
            }
            handle.noteEnd()
            handle.exchange = nil
            exchange.handle = nil
            active.swapAt(handle.index, active.count - 1)
            active[handle.index].index = handle.index
            active.removeLast()
            return exchange
        }

        /// Sends the request again with a new handle.
        private func repeatRequest(of handle: CurlHandle) {
            let isOnEndedConnection = handle.isOnEndedConnection
            guard let exchange = detach(handle) else { return }
            if isOnEndedConnection, handle.isSecure, library.isOnOpenSSL, let origin = exchange.request.origin {
                sockets.renew(origin)
            }
            do { try exchange.prepareToRepeat() } catch {
                return finish(exchange, .failure(NetworkError.wrapping(error)))
            }
            begin(exchange)
        }

        func collect() {
            var result: Int32 = 0
            while let easy = clibcurl_multi_next_ended(multi.pointer, &result) {
                guard let handle = CurlHandle.of(easy) else { continue }
                handle.noteLookup(false)
                guard let exchange = handle.exchange else {
                    clibcurl_multi_remove(multi.pointer, easy)
                    abandoned.removeAll { $0 === handle }
                    continue
                }
                // Some versions of libcurl report no error if a connection ends before the response head.
                if result == CCURLE_OK, !exchange.hasReceived { result = Int32(CCURLE_GOT_NOTHING) }
                if result == CCURLE_OK, handle.isCutOff { result = Int32(CCURLE_RECV_ERROR) }
                if exchange.isAnswered {
                    end(handle, .success(handle.facts))
                } else if result == CCURLE_OK {
                    end(handle, exchange.finishResponse().map { handle.facts })
                } else if exchange.mayRepeat(after: result) {
                    repeatRequest(of: handle)
                } else {
                    end(handle, .failure(handle.failure(result)))
                }
            }
        }

        func checkTimeouts() {
            guard now >= nextTimeoutCheck else { return }
            nextTimeoutCheck = .max
            for handle in active {
                guard let exchange = handle.exchange else { continue }
                switch exchange.timeoutStatus(at: now) {
                case .check(let time): nextTimeoutCheck = min(nextTimeoutCheck, time)
                case .passed(let error):
                    if error.kind == .idleTimedOut { handle.giveUpConnection(silentFor: exchange.idleTimeout) }
                    end(handle, .failure(error))
                }
            }
        }
    }

    extension CurlExchange {
        /// Notifies the caller of the result.
        func deliverOutcome() {
            switch outcome.take() {
            case .success(let facts): transfer.finish(facts)
            case .failure(let error): transfer.fail(failure ?? error)
            case nil: break
            }
        }
    }

    /// The outcomes of ended exchanges whose callers have not been notified yet.
    ///
    /// Callers are notified in batches, because waking their threads one by one is slow. While the loop has other work,
    /// a caller waits for at most four iterations of the loop.
    struct CurlOutcomes {
        private var ended: [CurlExchange] = []
        private var turns = 0

        var isEmpty: Bool { ended.isEmpty }

        mutating func add(_ exchange: CurlExchange) { ended.append(exchange) }

        /// Ends an iteration of the loop.
        ///
        /// - Parameter isQuiet: Whether the loop has no other work. If true, all callers are notified now.
        mutating func endTurn(isQuiet: Bool) {
            turns += 1
            if isQuiet || ended.count >= 32 || turns >= 4 { deliver() }
        }

        mutating func deliver() {
            for exchange in ended { exchange.deliverOutcome() }
            ended.removeAll(keepingCapacity: true)
            turns = 0
        }
    }
#endif
