#if os(Linux)
    /// The outcomes of exchanges that have ended, of which their callers have not been notified yet.
    ///
    /// Callers are notified in batches: waking their threads one by one costs more than everything else. A caller waits
    /// for the others a few turns of the loop at most, while the loop has other work.
    struct CurlOutcomes {
        typealias Outcome = Result<HTTPResponse.Timing, NetworkError>

        private var ended: [(exchange: CurlExchange, outcome: Outcome)] = []
        private var turns = 0

        var isEmpty: Bool { ended.isEmpty }

        mutating func add(_ outcome: Outcome, of exchange: CurlExchange) {
            ended.append((exchange, outcome))
        }

        /// A turn of the loop is over.
        ///
        /// - Parameter isQuiet: Whether the loop has no other work.
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
