#if canImport(Combine)
    public import Combine

    extension RequestTask {
        /// The call as a publisher of its one value. Cancelling a subscription cancels the call.
        public var publisher: AnyPublisher<Value, any Error> {
            Future { promise in
                nonisolated(unsafe) let promise = promise  // because it may be called from any thread, and is once
                self.onCompletion { promise($0) }
            }
            .handleEvents(receiveCancel: { self.cancel() })
            .eraseToAnyPublisher()
        }
    }
#endif
