#if os(Linux)
    import Foundation

    /// What a loop and its callers have in common: the commands that wait, and the handles that are free.
    final class CurlInbox: Sendable {
        private struct State: Sendable {
            var commands: [CurlLoop.Command] = []
            var free: [CurlHandle] = []
            var load = 0
            var isAsleep = false
            var isClosed = false

            mutating func keep(_ handle: CurlHandle) {
                if !isClosed, free.count < mostFree { free.append(handle) }
            }
        }

        /// More handles than this are not kept for later: each has some kilobytes.
        private static let mostFree = 128
        private let state = Locked(State())

        /// How many exchanges are under way.
        var load: Int { state.withLock { $0.load } }

        /// A handle that is free; nil where a new one is to be made.
        func takeHandle() -> CurlHandle? {
            state.withLock { $0.free.popLast() }
        }

        /// Keeps a handle for later.
        func keep(_ handle: CurlHandle) {
            state.withLock { $0.keep(handle) }
        }

        /// Takes back the handle of an exchange that has ended.
        func giveBack(_ handle: CurlHandle) {
            state.withLock { state in
                state.load -= 1
                state.keep(handle)
            }
        }

        /// Leaves a command.
        ///
        /// - Returns: Whether the loop has to be woken; nil where it takes no commands any more.
        func add(_ command: CurlLoop.Command) -> Bool? {
            state.withLock { state in
                guard !state.isClosed else { return nil }
                if case .start = command { state.load += 1 }
                state.commands.append(command)
                defer { state.isAsleep = false }
                return state.isAsleep
            }
        }

        /// Takes everything that was left, and leaves the empty array for what comes next. The loop is awake.
        ///
        /// - Returns: Whether the inbox has been closed.
        func take(_ commands: inout [CurlLoop.Command]) -> Bool {
            return state.withLock { state in
                state.isAsleep = false
                swap(&state.commands, &commands)
                return state.isClosed
            }
        }

        /// The loop is about to wait.
        ///
        /// - Returns: Whether it may: nothing has been left.
        func fallAsleep() -> Bool {
            state.withLock { state in
                state.isAsleep = state.commands.isEmpty && !state.isClosed
                return state.isAsleep
            }
        }

        /// Takes no more commands, and keeps no handles.
        func close() {
            state.withLock { state in
                state.isClosed = true
                state.free = []
            }
        }
    }
#endif
