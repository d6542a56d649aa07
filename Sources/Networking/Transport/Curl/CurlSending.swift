#if os(Linux)
    /// A request that a loop sends: an exchange, or the handshake of a WebSocket. A class, whose reference needs less
    /// of the frame of each waiting call than a protocol's value.
    class CurlSending: @unchecked Sendable {  // because only the loop's thread uses the variables of the subclasses
        let request: HTTPRequest
        let transfer: Transfer

        init(_ request: HTTPRequest, _ transfer: Transfer) {
            self.request = request
            self.transfer = transfer
        }

        /// Asks the loop to end it, because its caller no longer waits. May be called from any thread. Each subclass
        /// overrides this method.
        func cancel() {}
    }
#endif
