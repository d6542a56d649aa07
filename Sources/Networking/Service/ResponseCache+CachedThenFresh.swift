extension ResponseCache {
    /// The stored response of a call, and then the response of the server: see
    /// ``NetworkRequesting/cachedThenFresh(_:as:with:)``.
    public struct CachedThenFresh<Value: Sendable>: AsyncSequence, Sendable {
        /// A response with its value.
        public typealias Element = Response<Value>
        let stored: @Sendable () -> Response<Value>?
        let load: @Sendable () async throws -> Response<Value>

        /// An iterator over the responses.
        public struct Iterator: AsyncIteratorProtocol {
            private enum Step { case stored, server, end }

            private let responses: CachedThenFresh
            private var step = Step.stored
            private var stored: HTTPResponse?

            init(_ responses: CachedThenFresh) {
                self.responses = responses
            }

            /// Returns the next response; nil at the end. Throws the error of the call.
            public mutating func next() async throws -> Response<Value>? {
                if step == .stored {
                    step = .server
                    if let response = responses.stored() {
                        stored = response.http
                        return response
                    }
                }
                guard step == .server else { return nil }
                step = .end
                let response = try await responses.load()
                // If the stored response is fresh, the call gets the same response from the cache. The iterator does
                // not return it a second time.
                let isSame = response.source == .cache && stored.map { $0.data == response.http.data } == true
                return isSame ? nil : response
            }
        }

        /// Returns an iterator. Each iterator makes the call once.
        public func makeAsyncIterator() -> Iterator { Iterator(self) }
    }
}
