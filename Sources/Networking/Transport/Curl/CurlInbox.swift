#if os(Linux)
    import Foundation

    /// The commands for a loop, left by callers on any thread.
    final class CurlInbox: Sendable {
        private struct State: Sendable {
            var commands: [CurlLoop.Command] = []
            var running = RunningCount()
            var isAsleep = false
            var isClosed = false
        }

        private let state = Locked(State())

        /// The number of exchanges in progress.
        var load: Int { state.withLock { $0.running.count } }

        /// An exchange has ended.
        func noteEnd() {
            for call in state.withLock({ $0.running.end() }) { call() }
        }

        /// Takes no more exchanges.
        ///
        /// - Parameter whenEmpty: Called when no exchange is in progress any more.
        func drain(_ whenEmpty: @escaping @Sendable () -> Void) {
            if state.withLock({ $0.running.drain(whenEmpty) }) { whenEmpty() }
        }

        /// Leaves a command.
        ///
        /// - Returns: Whether the loop has to be woken; nil if it takes no more commands.
        func add(_ command: CurlLoop.Command) -> Bool? {
            state.withLock { state in
                guard !state.isClosed else { return nil }
                if case .start = command {
                    guard state.running.begin() else { return nil }
                }
                state.commands.append(command)
                defer { state.isAsleep = false }
                return state.isAsleep
            }
        }

        /// Takes all commands, and leaves the empty array for the next ones. The loop is awake.
        ///
        /// - Returns: Whether the inbox has been closed.
        func take(_ commands: inout [CurlLoop.Command]) -> Bool {
            state.withLock { state in
                state.isAsleep = false
                swap(&state.commands, &commands)
                return state.isClosed
            }
        }

        /// The loop is about to wait.
        ///
        /// - Returns: Whether it may: there is no command.
        func fallAsleep() -> Bool {
            state.withLock { state in
                state.isAsleep = state.commands.isEmpty && !state.isClosed
                return state.isAsleep
            }
        }

        /// Takes no more commands.
        func close() {
            state.withLock { $0.isClosed = true }
        }
    }

    /// How a body's reader and a response's reader, on other threads, reach the loop, without keeping the exchange.
    final class CurlMailbox: @unchecked Sendable {  // because it is set before another thread can see it
        weak var exchange: CurlExchange?
        private let loop: CurlLoop

        init(_ loop: CurlLoop, exchange: CurlExchange? = nil) {
            self.loop = loop
            self.exchange = exchange
        }

        func post(_ command: (CurlExchange) -> CurlLoop.Command) {
            if let exchange { loop.post(command(exchange)) }
        }
    }
#endif
