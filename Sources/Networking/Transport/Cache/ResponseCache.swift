public import Foundation

/// The responses that one service stores in memory: successful responses to GET that a private cache may store (RFC
/// 9111).
///
/// A stored response is used only for requests with the same URL, the same values of the fields that its `Vary` names,
/// and the same credentials. Requests with other credentials never get it. A service has no cache unless one is set:
/// `$0.cache = ResponseCache()`. All methods can be called from any thread.
public final class ResponseCache: Sendable {
    fileprivate struct Page: Sendable {
        var responses: [CachedResponse]
        /// The value of `State.uses` at the last use.
        var use: UInt64
    }

    fileprivate struct State: Sendable {
        var pages: [URL: Page] = [:]
        var uses: UInt64 = 0
        var size = 0
        /// The number of removals. A response whose request was sent before a removal is not stored.
        var changes: UInt64 = 0
    }

    /// The maximum size in bytes. Above it, the responses of the least recently used URL are removed first.
    let capacity: Int
    let date: @Sendable () -> Date
    private let state = Locked(State())

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - capacity: The maximum size in bytes. Default: 16 MiB. A response larger than an eighth of it is not stored.
    ///   - clock: The clock that measures the age of responses.
    public init(capacity: Int = 16 << 20, clock: NetworkClock = .continuous) {
        self.capacity = capacity
        date = clock.date
    }

    /// The number of stored responses.
    package var count: Int { state.withLock { $0.pages.values.reduce(0) { $0 + $1.responses.count } } }

    /// Removes every response.
    public func removeAll() {
        state.withLock { $0 = State(changes: $0.changes + 1) }
    }

    /// Removes the responses of a URL, for whatever credentials they were stored.
    public func removeResponses(from url: URL) {
        state.withLock { state in
            state.changes += 1
            state.remove(url)
        }
    }

    /// The number of removals so far. A response whose request was sent before a removal is not stored.
    var changes: UInt64 { state.withLock { $0.changes } }

    /// Returns the stored response for a request, fresh or not.
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

    /// Stores the response to a request. It replaces the stored response that this request would get.
    ///
    /// - Parameters:
    ///   - response: The response; nil only removes the stored one.
    ///   - changes: The value of ``changes`` when the request was sent.
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
        /// A fresh response is used without a request. For a stale response, the server is asked whether it has
        /// changed. Default.
        case standard
        /// The request is sent without conditions, and its response is stored.
        case reload
        /// No stored response is used, and the response is not stored.
        case off
    }
}

enum CachingOption: HTTPRequest.Option {
    /// Nil, which means ``ResponseCache/Rule/standard``.
    static var defaultValue: ResponseCache.Rule? { nil }
}

extension ResponseCache: ResetParticipant {
    /// Removes every response.
    public func reset() {
        removeAll()
    }
}

extension ResponseCache: RedactedReflectable {
    /// The number of stored responses.
    var redactedDescription: String { "\(count) responses" }
}
