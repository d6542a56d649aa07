#if canImport(Combine)
    public import Combine

    extension RequestTask {
        /// The call as a publisher of its one value. Cancelling a subscription cancels the call.
        public var publisher: AnyPublisher<Value, any Error> {
            Future<Value, any Error> { promise in
                nonisolated(unsafe) let promise = promise  // because it may be called from any thread, and is once
                self.onCompletion { promise($0) }
            }
            .handleEvents(receiveCancel: { _ = self.cancel() })
            .eraseToAnyPublisher()
        }
    }
#endif
