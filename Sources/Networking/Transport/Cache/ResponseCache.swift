public import Foundation

/// The responses that one service keeps, in memory: successful ones to GET whose server allows it (RFC 9111, as a
/// private cache).
///
/// A response belongs to the URL, to the fields that its `Vary` names and to the credentials of its request: whoever
/// has other credentials never gets it. A service has none unless it is given one: `$0.cache = ResponseCache()`.
/// Every method is safe from any thread.
public final class ResponseCache: Sendable {
    fileprivate struct Page: Sendable {
        var responses: [CachedResponse]
        /// When it was used last, by the count of uses.
        var use: UInt64
    }

    fileprivate struct State: Sendable {
        var pages: [URL: Page] = [:]
        var uses: UInt64 = 0
        var size = 0
        /// How often responses have been forgotten because they may not hold any more.
        var changes: UInt64 = 0
    }

    /// How many bytes it keeps at most; what has not been used for longest goes first.
    let capacity: Int
    let date: @Sendable () -> Date
    private let state = Locked(State())

    /// Makes an empty cache.
    ///
    /// - Parameters:
    ///   - capacity: How many bytes it keeps at most. Default: 16 MiB. One response has at most an eighth of it.
    ///   - clock: What tells how old a response is.
    public init(capacity: Int = 16 << 20, clock: NetworkClock = .continuous) {
        self.capacity = capacity
        date = clock.date
    }

    /// How many responses it has.
    package var count: Int { state.withLock { $0.pages.values.reduce(0) { $0 + $1.responses.count } } }

    /// Forgets every response.
    public func removeAll() {
        state.withLock { $0 = State(changes: $0.changes + 1) }
    }

    /// Forgets the responses from a URL, whomever they are for.
    public func removeResponses(from url: URL) {
        state.withLock { state in
            state.changes += 1
            state.remove(url)
        }
    }

    /// How often responses have been forgotten: what was asked for before the last time is not kept.
    var changes: UInt64 { state.withLock { $0.changes } }

    /// The response that a request may get, fresh or not.
    func response(to request: HTTPRequest) -> CachedResponse? {
        state.withLock { state in
            guard let found = state.pages[request.url]?.responses.first(where: { $0.isFor(request) }) else {
                return nil
            }
            state.uses += 1
            state.pages[request.url]?.use = state.uses
            return found
        }
    }

    /// Keeps a response in the place of the one that its request would get.
    ///
    /// - Parameters:
    ///   - answer: The response; nil keeps none.
    ///   - changes: What ``changes`` said when it was asked for.
    func keep(_ response: CachedResponse?, to request: HTTPRequest, since changes: UInt64) {
        state.withLock { state in
            let url = request.url
            var responses = (state.pages[url]?.responses ?? []).filter { !$0.isFor(request) }
            if let response, response.size <= capacity / 8, changes == state.changes {
                responses = responses.suffix(7) + [response]
            }
            state.remove(url)
            guard !responses.isEmpty else { return }
            state.uses += 1
            state.pages[url] = Page(responses: responses, use: state.uses)
            state.size += responses.reduce(0) { $0 + $1.size }
            while state.size > capacity, let oldest = state.pages.min(by: { $0.value.use < $1.value.use }) {
                state.remove(oldest.key)
            }
        }
    }
}

extension ResponseCache.State {
    fileprivate mutating func remove(_ url: URL) {
        guard let gone = pages.removeValue(forKey: url) else { return }
        size -= gone.responses.reduce(0) { $0 + $1.size }
    }
}

extension ResponseCache {
    /// How a call uses its service's cache: `RequestSettings { $0.caching = .reload }`.
    public enum Rule: Hashable, Sendable {
        /// Answers that are fresh are used without asking; of others the server is asked whether they have changed. The
        /// rule of a service with a cache, unless said otherwise.
        case standard
        /// The server is asked for all of it, and its response is kept.
        case reload
        /// Neither used nor kept.
        case off
    }
}

enum CachingOption: HTTPRequest.Option {
    /// The service's own rule.
    static var defaultValue: ResponseCache.Rule? { nil }
}

extension ResponseCache: ResetParticipant {
    /// Forgets every response.
    public func reset() {
        removeAll()
    }
}

extension ResponseCache: RedactedReflectable {
    /// How many responses there are.
    var redactedDescription: String { "\(count) responses" }
}
