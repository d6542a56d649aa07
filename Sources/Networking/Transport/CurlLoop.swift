#if os(Linux)
    import CLibcurl
    import Foundation
    import Glibc

    /// One thread that carries exchanges: it waits for sockets, for times and for its inbox, and never for anybody's code.
    final class CurlLoop: @unchecked Sendable {  // because the inbox has a lock, and its thread alone has the rest
        /// What others ask the loop to do.
        enum Command {
            /// Carry an exchange.
            case start(CurlExchange, CurlHandle)
            /// End an exchange.
            case cancel(CurlExchange)
            /// Go on in a direction.
            case resume(CurlExchange, Int32)
        }

        private let configuration: CurlConfiguration
        private let inbox = CurlInbox()
        private let share: CurlShare
        private let sockets: CurlSockets
        private let multi: UnsafeMutableRawPointer
        private var active: [CurlHandle] = []
        private var ended: [(exchange: CurlExchange, outcome: Result<ResponseTiming, NetworkError>)] = []
        private var turnsUnanswered = 0
        private var isOpen = true
        private var timer: UInt64?
        private var nextIdleCheck = UInt64.max
        /// The time of this turn, in nanoseconds.
        private(set) var now: UInt64 = 0

        /// - Throws: ``NetworkError`` where the system has no descriptor or memory left, or the configuration cannot be had.
        init(_ configuration: CurlConfiguration) throws {
            self.configuration = configuration
            share = try CurlShare()
            sockets = try CurlSockets()
            guard let multi = clibcurl_multi_init() else {
                throw NetworkError(.unknown, reason: "the engine cannot be started")
            }
            self.multi = multi
            inbox.keep(try CurlHandle(configuration, sockets: sockets, share: share))
            let limits = configuration.limits
            set(CCURLMOPT_MAXCONNECTS, max(limits.idleConnections, 1))
            if let count = limits.connectionsPerHost { set(CCURLMOPT_MAX_HOST_CONNECTIONS, max(count, 1)) }
            if let count = limits.connections { set(CCURLMOPT_MAX_TOTAL_CONNECTIONS, max(count, 1)) }
            installCallbacks()
        }

        deinit {
            close()
        }

        /// How many exchanges are under way.
        var load: Int { inbox.load }

        /// Has an exchange carried, on a handle made ready here, in the caller's thread.
        ///
        /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/shutDown`` once the loop has been stopped.
        func start(_ exchange: CurlExchange) throws {
            do {
                let handle = try inbox.takeHandle() ?? CurlHandle(configuration, sockets: sockets, share: share)
                do {
                    try handle.prepare(for: exchange)
                } catch {
                    inbox.keep(handle)
                    throw error
                }
                guard let isAsleep = inbox.add(.start(exchange, handle)) else { throw NetworkError(.shutDown) }
                if isAsleep { sockets.wake() }
            } catch {
                exchange.closeBody()
                throw error
            }
        }

        /// Leaves a word for the loop.
        func post(_ command: Command) {
            if inbox.add(command) == true { sockets.wake() }
        }

        /// Has the loop end what is under way, and then itself.
        func stop() {
            inbox.close()
            sockets.wake()
        }
    }

    /// The loop's own thread.
    extension CurlLoop {
        /// Turns until it is stopped.
        func run() {
            var commands: [Command] = []
            while true {
                now = CurlLoop.time()
                let isClosed = inbox.take(&commands)
                for command in commands { follow(command) }
                commands.removeAll(keepingCapacity: true)  // nothing is kept while the loop sleeps
                guard !isClosed else { break }
                sockets.handleReady { [multi] in clibcurl_multi_socket_action(multi, $0.socket, $0.events) }
                runTimer()
                collect()
                checkIdleTimes()
                wait()
            }
            for handle in active { end(handle, .failure(NetworkError(.shutDown))) }
            answer()
            close()
        }

        private func close() {
            guard isOpen else { return }
            isOpen = false
            clibcurl_multi_cleanup(multi)
        }

        private func follow(_ command: Command) {
            switch command {
            case .start(let exchange, let handle):
                begin(exchange, on: handle)
            case .cancel(let exchange):
                if let handle = exchange.handle { end(handle, .failure(NetworkError(.cancelled))) }
            case .resume(let exchange, let direction):
                exchange.resume(direction)
            }
        }

        private func begin(_ exchange: CurlExchange, on handle: CurlHandle) {
            exchange.handle = handle
            handle.exchange = exchange
            handle.index = active.count
            active.append(handle)
            if !configuration.limits.mayWait { exchange.noteConnection() }
            nextIdleCheck = min(nextIdleCheck, exchange.idleCheck(at: now) ?? now)
            if clibcurl_multi_add(multi, handle.easy) != 0 {
                end(handle, .failure(NetworkError(.unknown, reason: "libcurl does not take the request")))
            }
        }

        /// Takes an exchange, which is to be answered at the end of the turn, off its handle.
        private func end(_ handle: CurlHandle, _ outcome: Result<ResponseTiming, NetworkError>) {
            guard let exchange = handle.exchange else { return }
            clibcurl_multi_remove(multi, handle.easy)
            handle.exchange = nil
            exchange.handle = nil
            exchange.closeBody()
            active.swapAt(handle.index, active.count - 1)
            active[handle.index].index = handle.index
            active.removeLast()
            inbox.giveBack(handle)
            ended.append((exchange, outcome))
        }

        /// Answers callers, as many as there are in one go: waking their threads one by one costs more than all the rest. They wait for
        /// each other a few turns at most, while there is something else to do.
        private func answer() {
            for (exchange, outcome) in ended {
                switch outcome {
                case .success(let timing): exchange.transfer.finish(timing: timing)
                case .failure(let error): exchange.transfer.fail(exchange.failure ?? error)
                }
            }
            ended.removeAll(keepingCapacity: true)
            turnsUnanswered = 0
        }

        private func collect() {
            var result: Int32 = 0
            while let easy = clibcurl_multi_next_ended(multi, &result) {
                guard let handle = CurlHandle.of(easy) else { continue }
                end(handle, result == CCURLE_OK ? .success(handle.timing) : .failure(handle.failure(result)))
            }
        }

        private func runTimer() {
            guard let due = timer, due <= now else { return }
            timer = nil
            clibcurl_multi_socket_action(multi, Int32(CCURL_SOCKET_TIMEOUT), 0)
        }

        private func checkIdleTimes() {
            guard now >= nextIdleCheck else { return }
            nextIdleCheck = .max
            for handle in active {
                guard let exchange = handle.exchange else { continue }
                if let next = exchange.idleCheck(at: now) {
                    nextIdleCheck = min(nextIdleCheck, next)
                } else {
                    end(handle, .failure(.idleTimedOut(after: exchange.request.timeouts.effectiveIdle)))
                }
            }
        }

        /// Sleeps until a socket, a time or the inbox has something; looks at the sockets only, where the inbox has.
        private func wait() {
            if !ended.isEmpty {
                sockets.wait(milliseconds: 0)
                turnsUnanswered += 1
                if sockets.isQuiet || ended.count >= 32 || turnsUnanswered >= 4 { answer() }
                guard sockets.isQuiet else { return }
            }
            let due = min(timer ?? .max, nextIdleCheck)
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
    }

    /// How libcurl tells of its sockets and times.
    extension CurlLoop {
        private func installCallbacks() {
            let me = Unmanaged.passUnretained(self).toOpaque()
            clibcurl_multi_set_pointer(multi, Int32(CCURLMOPT_SOCKETDATA), me)
            clibcurl_multi_set_socket(multi, Int32(CCURLMOPT_SOCKETFUNCTION)) { _, socket, what, loop, _ in
                CurlLoop.of(loop)?.sockets.want(what, on: socket)
                return 0
            }
            clibcurl_multi_set_pointer(multi, Int32(CCURLMOPT_TIMERDATA), me)
            clibcurl_multi_set_timer(multi, Int32(CCURLMOPT_TIMERFUNCTION)) { _, milliseconds, loop in
                CurlLoop.of(loop)?.setTimer(milliseconds)
                return 0
            }
        }

        /// Libcurl cuts off fractions of a millisecond and says a time only once, so that asking it too early would lose it.
        private func setTimer(_ milliseconds: Int) {
            switch milliseconds {
            case ..<0: timer = nil
            case 0: timer = 0
            default: timer = CurlLoop.time() + UInt64(milliseconds + 1) * 1_000_000
            }
        }

        private func set(_ option: Int, _ value: Int) {
            clibcurl_multi_set_long(multi, Int32(option), value)
        }

        private static func of(_ pointer: UnsafeMutableRawPointer?) -> CurlLoop? {
            pointer.map { Unmanaged<CurlLoop>.fromOpaque($0).takeUnretainedValue() }
        }

        private static func time() -> UInt64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }
    }
#endif
