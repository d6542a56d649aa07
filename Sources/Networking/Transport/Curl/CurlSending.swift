#if os(Linux)
    /// A request that a loop sends: an exchange, or the handshake of a WebSocket. It is a class, because a class
    /// reference needs less memory in the frame of each waiting call than a protocol value.
    class CurlSending: @unchecked Sendable {  // because only the loop's thread uses the variables of the subclasses
        let request: HTTPRequest
        let transfer: Transfer

        init(_ request: HTTPRequest, _ transfer: Transfer) {
            self.request = request
            self.transfer = transfer
        }

        /// Asks the loop to end the request, because its caller no longer waits. May be called from any thread. Each
        /// subclass overrides this method.
        func cancel() {}
    }
#endif
