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
        }

        let inbox = CurlInbox()
        let loads: CurlLoads
        /// The index of the loop in ``loads``.
        let index: Int
        private let surroundings: CurlHandle.Surroundings
        let sockets: CurlSockets
        let pace: CurlPace
        let multi: UnsafeMutableRawPointer
        /// The streams that servers refused, for versions of libcurl that do not repeat the requests of these streams.
        @exclusivity(unchecked) var streamLog = CurlStreamLog()
        @exclusivity(unchecked) var active: [CurlHandle] = []
        /// The handles without an exchange that libcurl still has: see ``CurlFault/joinedLookups``.
        @exclusivity(unchecked) var abandoned: [CurlHandle] = []
        @exclusivity(unchecked) var outcomes = CurlOutcomes()
        @exclusivity(unchecked) private var isOpen = true
        /// The time at which libcurl must be called; nil if it has no timer.
        @exclusivity(unchecked) var timer: UInt64?
        @exclusivity(unchecked) var nextTimeoutCheck = UInt64.max
        /// The time at which exchanges that connect are looked after: see ``CurlFault/forgottenAddresses``.
        @exclusivity(unchecked) var nextConnectingCheck = UInt64.max
        /// The time at which the current iteration of the loop began, in nanoseconds.
        var now: UInt64 {
            get { sockets.now }
            set { sockets.now = newValue }
        }

        /// - Throws: ``NetworkError`` if the system has no file descriptor or memory left, or if libcurl does not
        ///   support the configuration.
        init(
            _ configuration: CurlTransport.Configuration, library: CurlLibrary, index: Int, of loads: CurlLoads
        ) throws {
            self.index = index
            self.loads = loads
            surroundings = try CurlHandle.Surroundings(configuration, library)
            sockets = surroundings.sockets
            pace = CurlPace(configuration.limits.turn)
            guard let multi = clibcurl_multi_init() else {
                throw NetworkError(.unknown, reason: "the engine cannot be started")
            }
            self.multi = multi
            try makeHandle().applyTLS()  // throws here if libcurl does not support a setting of the configuration
            let limits = configuration.limits
            set(CCURLMOPT_MAXCONNECTS, max(limits.idleConnections, 1))
            if let count = limits.connectionsPerHost { set(CCURLMOPT_MAX_HOST_CONNECTIONS, max(count, 1)) }
            if let count = limits.connections { set(CCURLMOPT_MAX_TOTAL_CONNECTIONS, max(count, 1)) }
            installCallbacks()
        }

        deinit {
            close()
        }

        func close() {
            guard isOpen else { return }
            isOpen = false
            clibcurl_multi_cleanup(multi)
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

        var library: CurlLibrary { surroundings.library }
        var limits: CurlTransport.Configuration.Limits { surroundings.configuration.limits }

        func makeHandle() throws -> CurlHandle { try CurlHandle(in: surroundings) }

        /// Posts a command to the loop.
        func post(_ command: Command) {
            if inbox.add(command) == true { sockets.wake() }
        }

        /// Returns the numbers of connections, also to a task that is cancelled: the loop follows every command that
        /// the inbox has taken.
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
            var commands: [Command] = []
            while true {
                now = CurlLoop.time()
                let isClosed = inbox.take(&commands)
                // Events on sockets are handled before new requests start, so that no request uses an idle connection
                // that has received unexpected data.
                sockets.handleReady { [multi, pace] event, count in
                    pace.begin(oneOf: count)
                    clibcurl_multi_socket_action(multi, event.socket, event.events)
                }
                sockets.closeExpired()
                for command in commands { follow(command, oneOf: commands.count) }
                commands.removeAll(keepingCapacity: true)  // releases the exchanges before the loop waits
                guard !isClosed else { break }
                runTimer()
                checkConnecting()
                collect()
                checkTimeouts()
                wait()
            }
            for handle in active { end(handle, .failure(NetworkError(.transportShutDown))) }
            outcomes.deliver()
            for handle in abandoned { clibcurl_multi_remove(multi, handle.easy) }
            abandoned = []
            close()
        }

        private func runTimer() {
            guard let due = timer, due <= now else { return }
            timer = nil
            pace.begin()
            clibcurl_multi_socket_action(multi, Int32(CCURL_SOCKET_TIMEOUT), 0)
        }

        private func checkConnecting() {
            guard now >= nextConnectingCheck else { return }
            let connecting = active.filter { $0.exchange?.isConnecting ?? false }
            nextConnectingCheck = connecting.isEmpty ? .max : now &+ CurlLoop.connectingInterval
            guard connecting.contains(where: \.isForgotten) else { return }
            pace.begin()
            clibcurl_multi_socket_all(multi)
            clibcurl_multi_socket_all(multi)  // see CurlFault.forgottenWaits
        }

        static let connectingInterval: UInt64 = 200_000_000

        /// Waits until a socket, a timer or the inbox has work. If the inbox already has work, this method checks the
        /// sockets without waiting.
        private func wait() {
            if !outcomes.isEmpty {
                sockets.wait(milliseconds: 0)
                outcomes.endTurn(isQuiet: sockets.isQuiet)
                guard sockets.isQuiet else { return }
            }
            let due = min(timer ?? .max, nextTimeoutCheck, nextConnectingCheck, sockets.pool.nextExpiry)
            if !inbox.fallAsleep() {
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

    /// libcurl's callbacks for sockets and timers.
    extension CurlLoop {
        func installCallbacks() {
            let me = Unmanaged.passUnretained(self).toOpaque()
            clibcurl_multi_set_pointer(multi, Int32(CCURLMOPT_SOCKETDATA), me)
            clibcurl_multi_set_socket(multi, Int32(CCURLMOPT_SOCKETFUNCTION)) { easy, socket, what, loop, _ in
                let handle = easy.flatMap { CurlHandle.of($0) }
                CurlLoop.of(loop)?.sockets.want(what, on: socket)
                if what != CCURL_POLL_REMOVE {
                    handle?.use(socket)
                    handle?.exchange?.noteConnection()
                }
                return 0
            }
            clibcurl_multi_set_pointer(multi, Int32(CCURLMOPT_TIMERDATA), me)
            clibcurl_multi_set_timer(multi, Int32(CCURLMOPT_TIMERFUNCTION)) { _, milliseconds, loop in
                CurlLoop.of(loop)?.setTimer(milliseconds)
                return 0
            }
        }

        /// Sets the time at which libcurl must be called. A millisecond is added, because libcurl truncates to
        /// milliseconds and sets a timer only once: if libcurl were called too early, the timer would be lost.
        private func setTimer(_ milliseconds: Int) {
            switch milliseconds {
            case ..<0: timer = nil
            case 0: timer = 0
            default: timer = CurlLoop.time() + UInt64(milliseconds + 1) * 1_000_000
            }
        }

        func set(_ option: Int, _ value: Int) {
            clibcurl_multi_set_long(multi, Int32(option), value)
        }

        private static func of(_ pointer: UnsafeMutableRawPointer?) -> CurlLoop? {
            pointer.map { Unmanaged<CurlLoop>.fromOpaque($0).takeUnretainedValue() }
        }
    }
#endif
