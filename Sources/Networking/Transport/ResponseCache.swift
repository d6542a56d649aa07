public import Foundation

/// The answers that one service keeps, in memory: successful ones to GET whose server allows it (RFC 9111, as a private cache).
///
/// An answer belongs to the URL, to the fields that its `Vary` names and to the credentials of its request: whoever has other credentials
/// never gets it. A service has none unless it is given one: `cache: ResponseCache()`. Every method is safe from any thread.
public final class ResponseCache: Sendable {
    fileprivate struct State: Sendable {
        var answers: [URL: [CachedResponse]] = [:]
        /// The URLs, those used last at the end.
        var order: [URL] = []
        var size = 0
    }

    /// How many bytes it keeps at most; what has not been used for longest goes first.
    public let capacity: Int
    let date: @Sendable () -> Date
    private let state = Locked(State())

    /// Makes an empty cache.
    ///
    /// - Parameters:
    ///   - capacity: How many bytes it keeps at most: 16 MiB unless said otherwise. One answer has at most an eighth of it.
    ///   - clock: What tells how old an answer is.
    public init(capacity: Int = 16 << 20, clock: NetworkClock = .continuous) {
        self.capacity = capacity
        date = clock.date
    }

    /// How many answers it has.
    public var count: Int { state.withLock { $0.answers.values.reduce(0) { $0 + $1.count } } }

    /// Forgets every answer.
    public func removeAll() {
        state.withLock { $0 = State() }
    }

    /// Forgets the answers from a URL, whomever they are for.
    public func removeAnswers(from url: URL) {
        state.withLock { $0.remove(url) }
    }

    /// The answer that a request may get, fresh or not.
    func answer(to request: HTTPRequest) -> CachedResponse? {
        state.withLock { state in
            guard let found = state.answers[request.url]?.first(where: { $0.isFor(request) }) else { return nil }
            state.order.removeAll { $0 == request.url }
            state.order.append(request.url)
            return found
        }
    }

    /// Keeps an answer in the place of the one that its request would get.
    func keep(_ answer: CachedResponse, to request: HTTPRequest) {
        state.withLock { state in
            let url = request.url
            var answers = (state.answers[url] ?? []).filter { !$0.isFor(request) }
            state.remove(url)
            guard answer.size <= capacity / 8 else { return }
            answers = answers.suffix(7) + [answer]
            state.answers[url] = answers
            state.order.append(url)
            state.size += answers.reduce(0) { $0 + $1.size }
            while state.size > capacity, let oldest = state.order.first { state.remove(oldest) }
        }
    }
}

extension ResponseCache.State {
    fileprivate mutating func remove(_ url: URL) {
        guard let gone = answers.removeValue(forKey: url) else { return }
        order.removeAll { $0 == url }
        size -= gone.reduce(0) { $0 + $1.size }
    }
}

/// How a call uses its service's cache: `RequestSettings(caching: .reload)`.
public enum CachingRule: Hashable, Sendable {
    /// Answers that are fresh are used without asking; of others the server is asked whether they have changed. The rule of a service with
    /// a cache, unless said otherwise.
    case standard
    /// The server is asked for all of it, and its answer is kept.
    case reload
    /// Neither used nor kept.
    case none
}

extension CachingRule: RequestOption {
    /// None: the service's own rule.
    public static var defaultOption: CachingRule? { nil }
}
