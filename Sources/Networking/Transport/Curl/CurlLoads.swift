#if os(Linux)
    /// The numbers of exchanges in progress on the loops of one transport.
    final class CurlLoads: Sendable {
        private struct State: Sendable {
            var running = RunningCount()
            /// The number of exchanges in progress on each loop.
            var loads: [Int]
            /// The number of exchanges that a loop gets before the next one is used.
            var level = 24
            /// The largest number of exchanges that were in progress on each loop at the same time.
            var mostLoads: [Int]
            /// The number of WebSockets on each loop, open or not.
            var webSockets: [Int]
            /// The number of open connections on each loop.
            var connections: [Int]

            /// Returns the loop for the next exchange: see ``CurlLoads/leastBusy(of:filling:)``. A task that runs on a
            /// loop's thread stays there if the loop is not busier than others, and if it had more exchanges before.
            mutating func next(among shared: Int, from current: Int?) -> Int {
                // A loop that also runs tasks does more work for each exchange.
                if current != nil { level = 4 }
                let next = CurlLoads.leastBusy(of: loads.prefix(shared), filling: level)
                guard let current, current < shared, loads[current] < mostLoads[current],
                    loads[current] / level <= loads[next] / level
                else { return next }
                return current
            }

            mutating func keep(_ own: Int, on index: Int, of limit: Int) -> Int {
                connections[index] = own
                let others = connections.reduce(-own, +)
                return max(limit - others, limit / connections.count, 1)
            }
        }

        private let state: Locked<State>
        /// The number of loops that ``begin(on:)`` chooses from. Loops with higher indices run only exchanges that
        /// require them.
        private let shared: Int
        /// The number of idle connections that all loops may keep together.
        private let idleConnections: Int

        init(sharedLoops: Int, otherLoops: Int, idleConnections: Int) {
            (shared, self.idleConnections) = (sharedLoops, idleConnections)
            let none = Array(repeating: 0, count: sharedLoops + otherLoops)
            state = Locked(State(loads: none, mostLoads: none, webSockets: none, connections: none))
        }

        /// Records the number of open connections on a loop.
        ///
        /// - Returns: The number of connections that the loop may keep. It is the part of the limit that the other
        ///   loops do not use, but at least the loop's own share. For example, a client that sends one request at a
        ///   time uses only one loop, which then keeps connections to many hosts.
        func keep(_ connections: Int, on index: Int) -> Int {
            state.withLock { $0.keep(connections, on: index, of: idleConnections) }
        }

        /// Records that an exchange has ended, and the number of open connections on its loop.
        ///
        /// - Returns: The number of connections that the loop may keep, as ``keep(_:on:)`` returns it. This number also
        ///   changes when another loop needs more connections.
        func end(on index: Int, keeping connections: Int) -> Int {
            let (calls, count) = state.withLock { state in
                state.loads[index] -= 1
                return (state.running.end(), state.keep(connections, on: index, of: idleConnections))
            }
            for call in calls { call() }
            return count
        }

        /// Counts an exchange that begins. Each call must be followed by a call of ``end(on:)``.
        ///
        /// - Parameters:
        ///   - loop: The index of the loop that the exchange requires; nil if any loop may run it.
        ///   - current: The index of the loop that the caller's thread belongs to: see ``currentIndex``.
        /// - Returns: The index of the loop for the exchange; nil if the transport refuses further exchanges.
        func begin(on loop: Int?, from current: Int? = nil) -> Int? {
            state.withLock { state in
                guard state.running.begin() else { return nil }
                let index = loop ?? state.next(among: shared, from: current)
                state.loads[index] += 1
                state.mostLoads[index] = max(state.mostLoads[index], state.loads[index])
                return index
            }
        }

        /// Returns the loop that the next exchange would get.
        func next() -> Int {
            state.withLock { $0.next(among: shared, from: nil) }
        }

        /// The index of the loop that the current thread belongs to; nil on threads of other code.
        var currentIndex: Int? {
            guard let loop = CurlLoop.current, loop.loads === self else { return nil }
            return loop.index
        }

        /// Counts a WebSocket, and counts its handshake as an exchange. Each call must be followed by a call of
        /// ``end(on:)`` and one of ``endWebSocket(on:)``. WebSockets share no connections, so all loops get the same
        /// number.
        ///
        /// - Returns: The index of the loop for the WebSocket; nil if the transport refuses further exchanges.
        func beginWebSocket() -> Int? {
            state.withLock { state in
                guard state.running.begin() else { return nil }
                let counts = state.webSockets.prefix(shared)
                let index = counts.indices.min { counts[$0] < counts[$1] } ?? 0
                state.loads[index] += 1
                state.webSockets[index] += 1
                return index
            }
        }

        /// Records that a WebSocket has ended.
        func endWebSocket(on index: Int) {
            state.withLock { $0.webSockets[index] -= 1 }
        }

        /// Records that an exchange has ended.
        func end(on index: Int) {
            let calls = state.withLock { state in
                state.loads[index] -= 1
                return state.running.end()
            }
            for call in calls { call() }
        }

        /// Refuses further exchanges.
        ///
        /// - Parameter whenNone: A closure to call when no exchange is in progress, on the thread of a loop or
        ///   immediately.
        func drain(_ whenNone: @escaping @Sendable () -> Void) {
            if state.withLock({ $0.running.drain(whenNone) }) { whenNone() }
        }

        /// Returns the loop for the next exchange. This is the first loop, so that connections are reused. Another loop
        /// is chosen only if the first loop is busy and the other loop has clearly fewer exchanges.
        ///
        /// Each loop has its own connections. Over HTTP/1.1, it needs one connection for each exchange in progress. The
        /// loops are filled in levels of a few exchanges, the first loop first on each level. Therefore, a loop exceeds
        /// its previous maximum only if every other loop has reached its own previous maximum. All loops together
        /// therefore need no more connections to a host than the largest number of exchanges that were in progress at
        /// the same time, and at most one level for each loop more if the level has changed.
        private static func leastBusy(of loads: ArraySlice<Int>, filling level: Int) -> Int {
            guard loads.count > 1, loads[0] >= level else { return 0 }
            return loads.indices.min { loads[$0] / level < loads[$1] / level } ?? 0
        }
    }
#endif
