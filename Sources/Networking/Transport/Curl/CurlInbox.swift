#if os(Linux)
    import Foundation

    /// A queue of commands for a loop. Callers on any thread add commands to it.
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

        /// Records that an exchange has ended.
        func noteEnd() {
            for call in state.withLock({ $0.running.end() }) { call() }
        }

        /// Refuses further exchanges.
        ///
        /// - Parameter whenEmpty: A closure to call when no exchange is in progress.
        func drain(_ whenEmpty: @escaping @Sendable () -> Void) {
            if state.withLock({ $0.running.drain(whenEmpty) }) { whenEmpty() }
        }

        /// Adds a command.
        ///
        /// - Returns: Whether the loop must be woken; nil if the command is refused.
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

        /// Takes all commands, and stores the given empty array for the next commands. The loop then counts as awake.
        ///
        /// - Returns: Whether the inbox has been closed.
        func take(_ commands: inout [CurlLoop.Command]) -> Bool {
            state.withLock { state in
                state.isAsleep = false
                swap(&state.commands, &commands)
                return state.isClosed
            }
        }

        /// Records that the loop is about to wait.
        ///
        /// - Returns: Whether the loop may wait, because there is no command.
        func fallAsleep() -> Bool {
            state.withLock { state in
                state.isAsleep = state.commands.isEmpty && !state.isClosed
                return state.isAsleep
            }
        }

        /// Refuses further commands.
        func close() {
            state.withLock { $0.isClosed = true }
        }
    }

    /// A weak reference to an exchange. The readers of a request's body and of a response's body use it on other
    /// threads to post commands to the loop, without retaining the exchange.
    final class CurlMailbox: @unchecked Sendable {  // because `exchange` is set before other threads use it
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
