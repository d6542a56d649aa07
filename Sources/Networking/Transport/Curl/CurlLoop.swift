#if os(Linux)
    import CLibcurl
    import Foundation
    import Glibc

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
            /// Resumes a direction of an exchange.
            case resume(CurlExchange, Int32)
        }

        private let configuration: CurlTransport.Configuration
        private let library: CurlLibrary
        private let inbox = CurlInbox()
        private let share: CurlShare
        /// The configured addresses of hosts in libcurl's form. Handles refer to this list.
        private let addresses: CurlHeaderLines
        let sockets: CurlSockets
        let multi: UnsafeMutableRawPointer
        /// The streams that servers refused, for versions of libcurl that do not repeat the requests of these streams.
        @exclusivity(unchecked) var streamLog = CurlStreamLog()
        @exclusivity(unchecked) private var active: [CurlHandle] = []
        @exclusivity(unchecked) private var outcomes = CurlOutcomes()
        private let handleMemory = CurlHandleMemory.Pool()
        @exclusivity(unchecked) private var isOpen = true
        /// The time at which libcurl must be called; nil if it has no timer.
        @exclusivity(unchecked) var timer: UInt64?
        @exclusivity(unchecked) private var nextTimeoutCheck = UInt64.max
        /// The time at which the current iteration of the loop began, in nanoseconds.
        @exclusivity(unchecked) private(set) var now: UInt64 = 0

        /// - Throws: ``NetworkError`` if the system has no file descriptor or memory left, or if libcurl does not
        ///   support the configuration.
        init(_ configuration: CurlTransport.Configuration, library: CurlLibrary) throws {
            self.configuration = configuration
            self.library = library
            share = try CurlShare()
            addresses = CurlHeaderLines(configuration.resolveLines)
            sockets = try CurlSockets()
            guard let multi = clibcurl_multi_init() else {
                throw NetworkError(.unknown, reason: "the engine cannot be started")
            }
            self.multi = multi
            _ = try makeHandle()  // throws here if libcurl does not support a setting of the configuration
            let limits = configuration.limits
            set(CCURLMOPT_MAXCONNECTS, max(limits.idleConnections, 1))
            if let count = limits.connectionsPerHost { set(CCURLMOPT_MAX_HOST_CONNECTIONS, max(count, 1)) }
            if let count = limits.connections { set(CCURLMOPT_MAX_TOTAL_CONNECTIONS, max(count, 1)) }
            installCallbacks()
        }

        deinit {
            close()
        }

        /// The number of exchanges in progress.
        var load: Int { inbox.load }

        /// Starts an exchange.
        ///
        /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/transportShutDown`` once the loop is drained or
        ///   stopped.
        func start(_ exchange: CurlExchange) throws {
            guard let isAsleep = inbox.add(.start(exchange)) else {
                exchange.closeBody()
                throw NetworkError(.transportShutDown)
            }
            if isAsleep { sockets.wake() }
        }

        private func makeHandle() throws -> CurlHandle {
            let handle = try CurlHandle(
                configuration, library: library, sockets: sockets, share: share, memory: handleMemory)
            if let list = addresses.list { clibcurl_easy_set_pointer(handle.easy, Int32(CCURLOPT_RESOLVE), list) }
            return handle
        }

        /// Posts a command to the loop.
        func post(_ command: Command) {
            if inbox.add(command) == true { sockets.wake() }
        }

        /// Refuses new exchanges.
        ///
        /// - Parameter whenEmpty: A closure to call when no exchange is in progress, on the loop's thread or
        ///   immediately.
        func drain(_ whenEmpty: @escaping @Sendable () -> Void) {
            inbox.drain(whenEmpty)
        }

        /// Asks the loop to end the exchanges in progress. After that, the thread of the loop ends.
        func stop() {
            inbox.close()
            sockets.wake()
        }
    }

    /// The methods that run on the loop's thread.
    extension CurlLoop {
        /// Runs until the loop is stopped.
        func run() {
            var commands: [Command] = []
            while true {
                now = CurlLoop.time()
                let isClosed = inbox.take(&commands)
                // Events on sockets are handled before new requests start, so that no request uses an idle connection
                // that has received unexpected data.
                sockets.handleReady(at: now) { [multi] in clibcurl_multi_socket_action(multi, $0.socket, $0.events) }
                for command in commands { follow(command) }
                commands.removeAll(keepingCapacity: true)  // releases the exchanges before the loop waits
                guard !isClosed else { break }
                runTimer()
                collect()
                checkTimeouts()
                wait()
            }
            for handle in active { end(handle, .failure(NetworkError(.transportShutDown))) }
            outcomes.deliver()
            close()
        }

        private func close() {
            guard isOpen else { return }
            isOpen = false
            clibcurl_multi_cleanup(multi)
        }

        private func follow(_ command: Command) {
            switch command {
            case .start(let exchange):
                begin(exchange)
            case .cancel(let exchange):
                if let handle = exchange.handle { end(handle, .failure(NetworkError(.cancelled))) }
            case .resume(let exchange, let direction):
                exchange.resume(direction)
                timer = 0  // see CurlFault.lostResumes
            }
        }

        /// Begins an attempt. Its handle is created on this thread, which also frees it, because it is much slower to
        /// free memory that another thread has allocated.
        private func begin(_ exchange: CurlExchange) {
            do {
                let handle = try makeHandle()
                try handle.prepare(for: exchange)
                attach(exchange, to: handle)
                guard clibcurl_multi_add(multi, handle.easy) == 0 else {
                    return end(handle, .failure(NetworkError(.unknown, reason: "libcurl does not accept the request")))
                }
            } catch {
                finish(exchange, .failure(NetworkError.wrapping(error)))
            }
        }

        private func attach(_ exchange: CurlExchange, to handle: CurlHandle) {
            exchange.handle = handle
            handle.exchange = exchange
            handle.index = active.count
            active.append(handle)
            exchange.begin(mayWait: configuration.limits.mayWait)
            if case .check(let time) = exchange.timeoutStatus(at: now) {
                nextTimeoutCheck = min(nextTimeoutCheck, time)
            }
        }

        /// Ends the exchange of a handle.
        private func end(_ handle: CurlHandle, _ outcome: Result<HTTPResponse.Timing, NetworkError>) {
            if let exchange = detach(handle) { finish(exchange, outcome) }
        }

        /// Ends an exchange that has no handle. ``CurlOutcomes`` notifies the caller of the exchange later.
        private func finish(_ exchange: CurlExchange, _ outcome: Result<HTTPResponse.Timing, NetworkError>) {
            exchange.closeBody()
            inbox.noteEnd()
            outcomes.add(outcome, of: exchange)
        }

        /// Separates an exchange from its handle, and removes the handle from libcurl.
        private func detach(_ handle: CurlHandle) -> CurlExchange? {
            guard let exchange = handle.exchange else { return nil }
            clibcurl_multi_remove(multi, handle.easy)
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
            guard let exchange = detach(handle) else { return }
            do { try exchange.prepareToRepeat() } catch {
                return finish(exchange, .failure(NetworkError.wrapping(error)))
            }
            begin(exchange)
        }

        private func collect() {
            var result: Int32 = 0
            while let easy = clibcurl_multi_next_ended(multi, &result) {
                guard let handle = CurlHandle.of(easy), let exchange = handle.exchange else { continue }
                // Some versions of libcurl report no error if a connection ends before the response head.
                if result == CCURLE_OK, !exchange.hasReceived { result = Int32(CCURLE_GOT_NOTHING) }
                if result == CCURLE_OK {
                    end(handle, exchange.finishResponse().map { handle.timing })
                } else if exchange.mayRepeat(after: result) {
                    repeatRequest(of: handle)
                } else {
                    end(handle, .failure(handle.failure(result)))
                }
            }
        }

        private func runTimer() {
            guard let due = timer, due <= now else { return }
            timer = nil
            clibcurl_multi_socket_action(multi, Int32(CCURL_SOCKET_TIMEOUT), 0)
        }

        private func checkTimeouts() {
            guard now >= nextTimeoutCheck else { return }
            nextTimeoutCheck = .max
            for handle in active {
                guard let exchange = handle.exchange else { continue }
                switch exchange.timeoutStatus(at: now) {
                case .check(let time): nextTimeoutCheck = min(nextTimeoutCheck, time)
                case .passed(let error): end(handle, .failure(error))
                }
            }
        }

        /// Waits until a socket, a timer or the inbox has work. If the inbox already has work, this method checks the
        /// sockets without waiting.
        private func wait() {
            if !outcomes.isEmpty {
                sockets.wait(milliseconds: 0)
                outcomes.endTurn(isQuiet: sockets.isQuiet)
                guard sockets.isQuiet else { return }
            }
            let due = min(timer ?? .max, nextTimeoutCheck)
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
#endif
