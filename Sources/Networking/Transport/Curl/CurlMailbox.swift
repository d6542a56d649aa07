#if os(Linux)
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
