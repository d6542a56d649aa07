#if os(Linux)
    import CLibcurl
    import Foundation

    /// An event loop that runs exchanges on one thread. It waits for sockets, timers and its inbox, but never for code
    /// of the app.
    ///
    /// Exclusivity is not checked at run time, because only one thread uses the variables, and accesses do not overlap.
    final class CurlLoop: @unchecked Sendable {  // because the inbox has a lock; one thread uses the other variables
        /// A command for the loop.
        enum Command {
            /// Starts an exchange.
            case start(CurlExchange)
            /// Ends an exchange.
            case cancel(CurlExchange)
            /// Counts the connections.
            case count(@Sendable (CurlTransport.Connections) -> Void)
            /// Resumes a direction of an exchange.
            case resume(CurlExchange, Int32)
            /// Follows an order of a WebSocket.
            case webSocket(CurlWebSocket, CurlWebSocket.Order)
            /// Closes all WebSockets, with code 1001.
            case closeWebSockets
        }

        let inbox: CurlInbox
        let loads: CurlLoads
        /// The index of the loop in ``loads``.
        let index: Int
        private let surroundings: CurlHandle.Surroundings
        let sockets: CurlSockets
        let pace: CurlPace
        let multi: CurlMulti
        /// The WebSockets of the loop.
        let webSockets: CurlWebSockets
        /// The streams that servers refused, for versions of libcurl that do not repeat the requests of these streams.
        @exclusivity(unchecked) var streamLog = CurlStreamLog()
        @exclusivity(unchecked) var active: [CurlHandle] = []
        /// The handles without an exchange that libcurl still has: see ``CurlFault/joinedLookups``.
        @exclusivity(unchecked) var abandoned: [CurlHandle] = []
        @exclusivity(unchecked) var outcomes = CurlOutcomes()
        @exclusivity(unchecked) private var jobs = CurlJobs()
        @exclusivity(unchecked) var nextTimeoutCheck = UInt64.max
        /// The number of connections that libcurl may keep.
        @exclusivity(unchecked) var mostConnections = 0
        /// The time of the next check of exchanges that are connecting: see ``CurlFault/forgottenAddresses``
        /// and ``CurlFault/waitsForHeads``.
        @exclusivity(unchecked) var nextConnectingCheck = UInt64.max
        /// The time at which the current iteration of the loop began, in nanoseconds.
        var now: UInt64 {
            get { sockets.now }
            set { sockets.now = newValue }
        }

        /// - Throws: ``NetworkError`` if the system has no file descriptor or memory left, or if libcurl does not
        ///   support the configuration.
        init(
            _ configuration: CurlTransport.Configuration, library: CurlLibrary, index: Int, of loads: CurlLoads,
            log: @escaping @Sendable (String) -> Void
        ) throws {
            self.index = index
            inbox = CurlInbox(log: log)
            self.loads = loads
            surroundings = try CurlHandle.Surroundings(configuration, library)
            sockets = surroundings.sockets
            pace = CurlPace(configuration.limits.turn)
            multi = try CurlMulti(on: sockets)
            webSockets = CurlWebSockets(in: surroundings, pace)
            try makeHandle().applyTLS()  // throws here if libcurl does not support a setting of the configuration
            let limits = configuration.limits
            mostConnections = loads.keep(0, on: index)
            multi.set(CCURLMOPT_MAXCONNECTS, mostConnections)
            if let count = limits.connectionsPerHost { multi.set(CCURLMOPT_MAX_HOST_CONNECTIONS, max(count, 1)) }
            if let count = limits.connections { multi.set(CCURLMOPT_MAX_TOTAL_CONNECTIONS, max(count, 1)) }
        }

        /// Starts an exchange.
        ///
        /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/transportShutDown`` once the loop is
        ///   stopped.
        func start(_ exchange: CurlExchange) throws {
            guard let isAsleep = inbox.add(.start(exchange)) else {
                exchange.closeBody()
                throw NetworkError(.transportShutDown)
            }
            if isAsleep { sockets.wake() }
        }

        /// Starts a WebSocket.
        ///
        /// - Throws: As ``start(_:)-(CurlExchange)``.
        func start(_ webSocket: CurlWebSocket) throws {
            guard let isAsleep = inbox.add(.webSocket(webSocket, .start)) else {
                throw NetworkError(.transportShutDown)
            }
            if isAsleep { sockets.wake() }
        }

        /// Runs a job of a task on the loop's thread. Once the loop is stopped, the job runs on the default executor.
        func run(_ job: CurlJob) {
            guard let isAsleep = inbox.add(job) else { return job.leave() }
            if isAsleep { sockets.wake() }
        }

        /// The loop that the current thread belongs to; nil on threads of other code.
        static var current: CurlLoop? {
            clibcurl_thread_owner().map { Unmanaged<CurlLoop>.fromOpaque($0).takeUnretainedValue() }
        }

        var library: CurlLibrary { surroundings.library }
        var limits: CurlTransport.Configuration.Limits { surroundings.configuration.limits }
        /// Whether it is an error if a response does not use HTTP/2.
        var requiresHTTP2: Bool { surroundings.configuration.httpVersions == .http2 }

        func makeHandle() throws -> CurlHandle { try CurlHandle(in: surroundings) }

        /// Posts a command to the loop.
        func post(_ command: Command) {
            if inbox.add(command) == true { sockets.wake() }
        }

        /// Returns the numbers of connections, even if the task is cancelled: the loop executes every command that the
        /// inbox has accepted.
        func connections() async -> CurlTransport.Connections {
            await withCheckedContinuation { continuation in
                guard let isAsleep = inbox.add(.count { continuation.resume(returning: $0) }) else {
                    return continuation.resume(returning: .init())
                }
                if isAsleep { sockets.wake() }
            }
        }

        /// Asks the loop to end the exchanges in progress. After that, the thread of the loop ends.
        func stop() {
            inbox.close()
            sockets.wake()
        }
    }

    /// The iterations of the loop, on its thread.
    extension CurlLoop {
        /// Runs until the loop is stopped.
        func run() {
            clibcurl_thread_set_owner(Unmanaged.passUnretained(self).toOpaque())
            defer { clibcurl_thread_set_owner(nil) }
            var commands: [Command] = []
            let (multi, webSockets, pace) = (multi, webSockets, pace)
            while true {
                now = CurlLoop.time()
                let isClosed = inbox.take(&commands, &jobs.waiting)
                // Events on sockets are handled before new requests start, so that no request uses an idle connection
                // that has received unexpected data.
                sockets.handleReady { event, isOfWebSocket, count in
                    pace.begin(oneOf: count)
                    if isOfWebSocket {
                        webSockets.handle(event)
                    } else {
                        clibcurl_multi_socket_action(multi.pointer, event.socket, event.events)
                    }
                }
                if sockets.closeExpired() { countConnections() }
                for command in commands { follow(command, oneOf: commands.count) }
                commands.removeAll(keepingCapacity: true)  // releases the exchanges before the loop waits
                guard !isClosed else { break }
                multi.runTimer(at: now, pace)
                checkConnecting()
                collect()
                webSockets.run(at: now)
                checkTimeouts()
                runJobs()
                wait()
            }
            for handle in active { end(handle, .failure(NetworkError(.transportShutDown))) }
            outcomes.deliver()
            for job in jobs.waiting { job.leave() }
            for handle in abandoned { clibcurl_multi_remove(multi.pointer, handle.easy) }
            abandoned = []
            webSockets.stop()
            multi.close()
        }

        private func runJobs() {
            guard !jobs.waiting.isEmpty else { return }
            outcomes.deliver()  // callers do not wait for the jobs
            let time = jobs.run(pace, noting: inbox)
            guard time > CurlInbox.longestJobs else { return }
            // In this time, nothing was read from sockets, so it is not counted by timeouts.
            for handle in active { handle.exchange?.activity.delay(by: time) }
        }

        private func checkConnecting() {
            guard now >= nextConnectingCheck else { return }
            let connecting = active.filter { $0.exchange?.isConnecting ?? false }
            nextConnectingCheck = connecting.isEmpty ? .max : now &+ CurlLoop.connectingInterval
            endWaits(of: connecting)
            guard library.has(.forgottenAddresses), connecting.contains(where: \.isForgotten) else { return }
            pace.begin()
            clibcurl_multi_socket_all(multi.pointer)
            clibcurl_multi_socket_all(multi.pointer)  // see CurlFault.forgottenWaits
        }

        static let connectingInterval: UInt64 = 200_000_000

        /// Waits until a socket, a timer or the inbox has work. If the inbox already has work, this method checks the
        /// sockets without waiting.
        private func wait() {
            if !outcomes.isEmpty {
                if active.isEmpty {
                    outcomes.deliver()
                } else {
                    sockets.wait(milliseconds: 0)
                    outcomes.endTurn(isQuiet: sockets.isQuiet)
                    guard sockets.isQuiet else { return }
                }
            }
            let due = min(
                multi.timer ?? .max, nextTimeoutCheck, nextConnectingCheck, sockets.pool.nextExpiry, webSockets.due)
            if !jobs.waiting.isEmpty || !inbox.fallAsleep() {
                sockets.wait(milliseconds: 0)
            } else if due == .max {
                sockets.wait(milliseconds: -1)
            } else {
                let time = CurlLoop.time()
                let milliseconds = due > time ? (due - time) / 1_000_000 + 1 : 0
                sockets.wait(milliseconds: Int32(min(milliseconds, 1 << 30)))
            }
        }

        static func time() -> UInt64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }
    }
#endif
