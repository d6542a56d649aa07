#if os(Linux)
    import Foundation

    /// A queue of commands for a loop. Callers on any thread add commands to it.
    final class CurlInbox: Sendable {
        private struct State: Sendable {
            var commands: [CurlLoop.Command] = []
            var isAsleep = false
            var isClosed = false
        }

        private let state = Locked(State())

        /// Adds a command.
        ///
        /// - Returns: Whether the loop must be woken; nil if the command is refused.
        func add(_ command: CurlLoop.Command) -> Bool? {
            state.withLock { state in
                guard !state.isClosed else { return nil }
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

    /// The thread of one loop.
    struct CurlThread: @unchecked Sendable {  // because a thread's identifier never changes
        private let identifier: pthread_t

        /// Starts the thread, which retains the loop while it runs.
        ///
        /// - Throws: ``NetworkError`` if the system cannot create a thread.
        init(_ loop: CurlLoop) throws {
            var identifier = pthread_t()
            let kept = Unmanaged.passRetained(loop)
            let result = pthread_create(&identifier, nil, CurlThread.body, kept.toOpaque())
            guard result == 0 else {
                kept.release()
                throw NetworkError(
                    .unknown, reason: "the engine cannot be started: \(String(cString: strerror(result)))")
            }
            self.identifier = identifier
        }

        /// Waits until the thread has ended. Returns immediately if it is called on that thread.
        func join() {
            if pthread_equal(identifier, pthread_self()) != 0 {
                pthread_detach(identifier)
            } else {
                pthread_join(identifier, nil)
            }
        }

        private static let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { kept in
            Thread.current.name = "networking.curl"
            // Blocks SIGPIPE, so that a write to a connection that the peer has closed returns an error and never sends
            // a signal.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            if let kept { Unmanaged<CurlLoop>.fromOpaque(kept).takeRetainedValue().run() }
            return nil
        }
    }
#endif
