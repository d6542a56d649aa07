import Foundation

/// A transport with a private cache ([RFC 9111](https://www.rfc-editor.org/rfc/rfc9111)). It returns fresh responses
/// from the cache, and stores the responses that may be stored.
///
/// A service adds this transport if ``NetworkConfiguration/cache`` is set. The transport is next to the engine, so that
/// it receives requests with all header fields that are sent. The cache does not handle requests with a method other
/// than GET and HEAD, requests with a body, or downloads into files.
struct CachingTransport: Transport {
    let base: any Transport
    let cache: ResponseCache

    /// Sends the request, unless the cache has a response that may be used.
    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        let rule = request.parts.cache.rule ?? .fresh
        guard rule != .off, let asked = CacheRequest(request, rule, delivery) else {
            if rule == .only { throw NetworkError.notCached }
            if request.method.isSafe, CacheDirectives(request: request.headers)?.has("only-if-cached") == true {
                return HTTPResponse(.gatewayTimeout, to: request)
            }
            return try await forward(request, delivery)
        }
        let stored = rule == .reload ? nil : cache.response(to: request)
        let now = cache.date()
        let use = stored?.bestUse(for: asked, at: now) ?? (asked.mustNotBeSent ? .refuse : .send)
        if use == .use || use == .useAndRevalidate, let stored,
            let response = stored.response(to: asked, at: now, .cache)
        {
            if use == .useAndRevalidate { revalidate(stored, asked) }
            return try await response.collected(for: delivery)
        }
        if rule == .only { throw NetworkError.notCached }
        if asked.isOnlyIfCached { return HTTPResponse(.gatewayTimeout, to: request) }
        return try await fetch(cache.begin(asked), stored)
    }

    /// Sends a request that the cache does not handle. A non-error response to an unsafe method removes the stored
    /// responses of the request's URL, and of the URLs in `Location` and `Content-Location` (RFC 9111 section 4.4).
    private func forward(_ request: HTTPRequest, _ delivery: BodyDelivery) async throws -> HTTPResponse {
        let response = try await sendToServer(request, delivery)
        guard !request.method.isSafe, (200..<400).contains(response.status.code) else { return response }
        cache.removeResponses(from: request.url)
        for field in [HTTPHeader.Name.location, "Content-Location"] {
            // A URL of another origin could belong to another server operator.
            guard let url = response.headers[field].flatMap({ URL(reference: $0, relativeTo: request.url) }),
                HTTPOrigin(url) == request.origin
            else { continue }
            cache.removeResponses(from: url)
        }
        return response
    }

    private func sendToServer(_ request: HTTPRequest, _ delivery: BodyDelivery) async throws -> HTTPResponse {
        if let error = request.parts.cache.unsent { throw error }
        return try await base.send(request, delivering: delivery)
    }

    /// Sends a request to the server. If a response is stored, the request validates it. If the request fails, the
    /// stored response may be used.
    private func fetch(_ exchange: CacheExchange, _ stored: CachedResponse?) async throws -> HTTPResponse {
        let asked = exchange.asked
        var request = asked.request
        let isValidating =
            !asked.isConditional && asked.range == nil && stored?.makeConditional(&request, asked.delivery) == true
        let requested = cache.date()
        var response: HTTPResponse
        do { response = try await sendToServer(request, asked.delivery) } catch {
            guard let stale = CacheFailure(error).flatMap({ stored?.replacement(of: $0, for: asked, cache.date()) })
            else { throw error }
            return try await stale.replacing(.failure(error)).collected(for: asked.delivery)
        }
        // A response that refuses the token is not a failure of the server: no stored response replaces it, and it is
        // not stored.
        response.decideRefusal()
        if !response.isRefusal,
            let stale = CacheFailure(response.status).flatMap({ stored?.replacement(of: $0, for: asked, cache.date()) })
        {
            return try await stale.replacing(.success(response.head)).collected(for: asked.delivery)
        }
        response.request.removeConditions(addedTo: asked.request)
        response = try await response.collected(for: asked.delivery)
        response.decideRefusal()  // whose body is in memory now
        guard !response.isRefusal else { return response }
        let result = cache.receive(response, of: exchange, stored, isValidating, requested: requested)
        // The caller cannot use a response to a condition or a range that the cache has added, or a 431 (request head
        // too large). The request is then sent again without the condition and the range.
        guard isValidating, let stored, [304, 206, 416, 431].contains(result.status.code) else {
            return try await result.collected(for: asked.delivery)
        }
        cache.remove(stored, of: asked.request)
        return try await fetch(exchange, nil)
    }

    /// Validates a stored response in the background, after its use. At most one background validation runs for each
    /// URL.
    private func revalidate(_ stored: CachedResponse, _ asked: CacheRequest) {
        let key = CachePages.key(asked.request.url)
        guard let alone = asked.afterCall, cache.revalidations.claim(key) else { return }
        // The request belongs to no call, but it needs the permit of the call that caused it.
        let context = asked.request.parts.transfer?.continued(for: asked.request)
        let exchange = cache.begin(context.map { alone.belonging(to: $0) } ?? alone)
        let limit = min(asked.request.timeouts.total ?? .seconds(30), .seconds(30))
        let deadline = Deadline(after: limit, on: context?.clock ?? .continuous)
        cache.revalidations.start(key, until: deadline) {
            let result = await revalidation(of: stored, exchange)
                .mapError { deadline.hasPassed ? NetworkError(.deadlineTimedOut) : $0 }
            // A stale response says nothing about the server, so the policies receive the outcome that it replaced.
            // They know only the request of the call, so the outcome is reported for that request.
            let outcome = (try? result.get())?.replaced ?? result
            context?.admission?.end(after: outcome.map { $0.inCall(of: asked.request) })
        }
    }

    private func revalidation(
        of stored: CachedResponse, _ exchange: CacheExchange
    ) async -> Result<HTTPResponse, any Error> {
        do {
            let response = try await fetch(exchange, stored)
            // The body is stored while it is read. A body that is too large to be stored need not be read further.
            if case .stream(let body) = response.content {
                var size = 0
                for try await chunk in body {
                    size += chunk.count
                    guard size <= exchange.store.largestResponse else { break }
                }
            }
            return .success(response.withoutStream)
        } catch {
            return .failure(error)
        }
    }
}

extension CachedResponse {
    /// Returns the response to use instead of a failure; nil if the failure must be reported.
    fileprivate func replacement(of failure: CacheFailure, for asked: CacheRequest, _ now: Date) -> HTTPResponse? {
        mayReplace(failure, of: asked, at: now) ? response(to: asked, at: now, .cache) : nil
    }
}

extension HTTPResponse {
    /// Returns the response, with its content in memory if the caller asks for that.
    fileprivate func collected(for delivery: BodyDelivery) async throws -> HTTPResponse {
        guard case .buffered(let limit) = delivery, content.isPending(upTo: limit) else { return self }
        return try await inMemory(upTo: limit)
    }
}

extension HTTPRequest {
    /// Removes the conditions that a cache has added, so that a redirect does not copy them to its target.
    fileprivate mutating func removeConditions(addedTo original: HTTPRequest) {
        for name in [HTTPHeader.Name.ifNoneMatch, .ifModifiedSince, .ifRange, .range]
        where !original.headers.contains(name) {
            headers.remove(name)
        }
    }
}

extension NetworkError {
    /// The error of a call that may use only the cache, if the cache has no response to its request.
    static var notCached: NetworkError {
        NetworkError(
            .notCached, reason: "the call may use only the cache, and the cache contains no response for the request")
    }
}

/// The background validations of stored responses. The caller has already received the stored response and does not
/// wait for the validation. At most one validation runs for each key.
final class CacheRevalidations: ResetParticipant {
    private struct State: Sendable {
        var claimed: Set<String> = []
        var tasks: [String: Task<Void, Never>] = [:]
    }

    /// The key of the validation that the current task belongs to; nil if it belongs to none.
    @TaskLocal private static var current: String?

    /// Whether the current task belongs to a validation. If a validation causes a reset, this reset does not wait for
    /// validations and other resets, because those may wait for the validation that caused it.
    static var isInside: Bool { current != nil }

    private let state = Locked(State())

    /// Claims a key for a validation. Returns false if a validation with this key is already claimed or in progress.
    func claim(_ key: String) -> Bool {
        state.withLock { $0.claimed.insert(key).inserted }
    }

    /// Starts a validation whose key has been claimed. The validation is cancelled when the time limit passes. The
    /// limit is needed because the validation may hold a permit, and no call with a deadline waits for the validation.
    func start(_ key: String, until deadline: Deadline, _ validate: @escaping @Sendable () async -> Void) {
        state.withLock { running in
            running.tasks[key] = Task.detached { [state] in
                let timer = deadline.clock.schedule(at: deadline.instant) { state.withLock { $0.tasks[key] }?.cancel() }
                await CacheRevalidations.$current.withValue(key) { await validate() }
                timer.cancel()
                state.withLock { state in
                    state.tasks[key] = nil
                    state.claimed.remove(key)
                }
            }
        }
    }

    /// Cancels all validations except the one that calls this method.
    func cancel() {
        let running = state.withLock { $0.tasks }
        for (key, task) in running where key != CacheRevalidations.current { task.cancel() }
    }

    /// Waits until the validations have ended.
    func reset() async {
        guard !CacheRevalidations.isInside else { return }
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }
}
