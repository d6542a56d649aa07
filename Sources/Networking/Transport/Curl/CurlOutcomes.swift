#if os(Linux)
    /// The outcomes of ended exchanges whose callers have not been notified yet.
    ///
    /// Callers are notified in batches, because it is slow to wake their threads one by one. While the loop has other
    /// work, a caller is notified after at most four iterations of the loop.
    struct CurlOutcomes {
        typealias Outcome = Result<HTTPResponse.Timing, NetworkError>

        private var ended: [(exchange: CurlExchange, outcome: Outcome)] = []
        private var turns = 0

        var isEmpty: Bool { ended.isEmpty }

        mutating func add(_ outcome: Outcome, of exchange: CurlExchange) {
            ended.append((exchange, outcome))
        }

        /// Ends an iteration of the loop.
        ///
        /// - Parameter isQuiet: Whether the loop has no other work, so that all callers are notified now.
        mutating func endTurn(isQuiet: Bool) {
            turns += 1
            if isQuiet || ended.count >= 32 || turns >= 4 { deliver() }
        }

        mutating func deliver() {
            for (exchange, outcome) in ended {
                switch outcome {
                case .success(let timing): exchange.transfer.finish(timing: timing)
                case .failure(let error): exchange.transfer.fail(exchange.failure ?? error)
                }
            }
            ended.removeAll(keepingCapacity: true)
            turns = 0
        }
    }
#endif
