#if os(Linux)
    import Foundation

    /// The commands for a loop, left by callers on any thread.
    final class CurlInbox: Sendable {
        private struct State: Sendable {
            var commands: [CurlLoop.Command] = []
            var load = 0
            var isAsleep = false
            var isClosed = false
            /// Called once no exchange is in progress. No new one may start if there are any.
            var whenEmpty: [@Sendable () -> Void] = []
        }

        private let state = Locked(State())

        /// The number of exchanges in progress.
        var load: Int { state.withLock { $0.load } }

        /// An exchange has ended.
        func noteEnd() {
            let whenEmpty = state.withLock { state in
                state.load -= 1
                return state.load == 0 ? state.whenEmpty : []
            }
            for call in whenEmpty { call() }
        }

        /// Takes no more exchanges.
        ///
        /// - Parameter whenEmpty: Called when no exchange is in progress any more.
        func drain(_ whenEmpty: @escaping @Sendable () -> Void) {
            let isEmpty = state.withLock { state in
                state.whenEmpty.append(whenEmpty)
                return state.load == 0
            }
            if isEmpty { whenEmpty() }
        }

        /// Leaves a command.
        ///
        /// - Returns: Whether the loop has to be woken; nil if it takes no more commands.
        func add(_ command: CurlLoop.Command) -> Bool? {
            state.withLock { state in
                guard !state.isClosed else { return nil }
                if case .start = command {
                    guard state.whenEmpty.isEmpty else { return nil }
                    state.load += 1
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
#endif
