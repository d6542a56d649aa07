import Foundation

/// Access to the response cache of a service.
extension NetworkRequesting {
    /// Returns the stored response for a call, fresh or stale, without waiting. Returns nil if the service has no
    /// cache, if the rule of the call is ``ResponseCache/Rule/off``, if the cache stores no successful response for the
    /// call, or if the stored response cannot be read.
    ///
    /// Only ``SynchronousRequestAdapter``s adapt the request. A response that was stored for credentials other than
    /// those of the adapted request is not returned.
    public func cachedResponse<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) -> Response<Value>? {
        cachedResponse(client.pipeline(endpoint, as: converter, with: settings), converter)
    }

    func cachedResponse<Value: Sendable>(
        _ pipeline: RequestPipeline, _ converter: ResponseConverter<Value>
    ) -> Response<Value>? {
        guard let cache = client.configuration.cache, let request = try? pipeline.adaptedRequestNow(),
            request.parts.cache.rule != .off, let asked = CacheRequest(request, .only, .buffered(limit: .max)),
            let response = cache.response(to: request)?.response(to: asked, at: cache.date(), .cache)?.leavingCall(),
            response.status.isSuccessful,
            let value = try? JSONValue.$work.withValue(
                JSONValue.Work(response.maximumValues),
                operation: { try converter.reading.convertNow(response, pipeline.settings.bodyDecoder) })
        else { return nil }
        return Response(value, response)
    }

    /// Returns a sequence of at most two responses. The first is the stored response for a call, fresh or stale, and is
    /// returned without waiting. The second is the response of the server. For example, an app shows a list without
    /// waiting, and updates the list when the new response arrives.
    ///
    /// ```swift
    /// for try await news in service.cachedThenFresh(NewsEndpoint.latest, as: .json([Story].self)) {
    ///     show(news.value)
    /// }
    /// ```
    ///
    /// If the stored response is fresh, nothing is sent, and the sequence ends after this response. Without a stored
    /// response, the sequence contains only the response of the server. Each iterator makes the call once; the iterator
    /// throws the error of the call.
    public func cachedThenFresh<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) -> ResponseCache.CachedThenFresh<Value> {
        ResponseCache.CachedThenFresh(
            stored: { cachedResponse(endpoint, as: converter, with: settings) },
            session: { client.sessionNumber },
            load: { session in
                let call = client.pipeline(
                    endpoint, as: converter, with: settings.awaitingValidation, inSession: session)
                let (value, outcome) = try await call.value(converter)
                return Response(value, outcome)
            })
    }

    /// Removes the stored responses for a call from the service's cache, for all credentials.
    public func removeCached(_ endpoint: some Endpoint, with settings: RequestSettings = RequestSettings()) {
        guard let request = try? client.pipeline(endpoint, as: .void, with: settings).adaptedRequestNow() else {
            return
        }
        client.configuration.cache?.removeResponses(from: request.url)
    }
}

extension RequestSettings {
    /// The same settings, changed so that the call waits until a stale response has been validated.
    var awaitingValidation: RequestSettings {
        var settings = self
        settings.orders.orderValidation()
        return settings
    }
}

extension ResponseCache {
    /// The stored response of a call, and then the response of the server: see
    /// ``NetworkRequesting/cachedThenFresh(_:as:with:)``.
    public struct CachedThenFresh<Value: Sendable>: AsyncSequence, Sendable {
        /// A response with its value.
        public typealias Element = Response<Value>
        let stored: @Sendable () -> Response<Value>?
        /// Returns the number of the current session.
        let session: @Sendable () -> Int?
        let load: @Sendable (_ session: Int?) async throws -> Response<Value>

        /// An iterator over the responses.
        public struct Iterator: AsyncIteratorProtocol {
            private enum Step { case stored, server, end }

            private let responses: CachedThenFresh
            private var step = Step.stored
            private var stored: HTTPResponse?
            /// The number of the session to which both responses belong. They never belong to different users.
            private var session: Int?

            init(_ responses: CachedThenFresh) {
                self.responses = responses
            }

            /// Returns the next response; nil at the end. Throws the error of the call.
            public mutating func next() async throws -> Response<Value>? {
                if step == .stored {
                    step = .server
                    session = responses.session()
                    if let response = responses.stored() {
                        stored = response.http
                        return response
                    }
                }
                guard step == .server else { return nil }
                step = .end
                let response = try await responses.load(session)
                // If the stored response is fresh, the call gets the same response from the cache. The iterator does
                // not return it a second time.
                let isSame = response.http.source == .cache && stored.map { $0.data == response.http.data } == true
                return isSame ? nil : response
            }
        }

        /// Returns an iterator. Each iterator makes the call once.
        public func makeAsyncIterator() -> Iterator { Iterator(self) }
    }
}
