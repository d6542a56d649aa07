import Foundation

/// A place in which a cache stores responses: ``CacheMemory`` or ``CacheDirectory``. Any thread may call the methods.
///
/// A response is stored under the key of its URL. A key has several responses if their requests differ in the fields
/// that `Vary` names, or in the credentials.
protocol ResponseStore: Sendable {
    /// The number of stored responses.
    var count: Int { get }
    /// The maximum size of a stored response in bytes: an eighth of the capacity.
    var largestResponse: Int { get }
    /// Returns the stored response that is most suitable for a request, whether it is fresh or stale.
    func response(at key: String, to request: HTTPRequest) -> CachedResponse?
    /// Begins to copy the body of a response while it is received. Returns nil if the response cannot be stored.
    func copy(of response: CachedResponse, at key: String) -> CacheCopy?
    /// Stores a response, and removes the stored responses that apply to its request. If the response is nil, only
    /// removes them. Does nothing if the responses of the URL were removed during the exchange.
    ///
    /// - Parameter copied: The body of the response, if the store has copied it while the response was received.
    func keep(_ response: CachedResponse?, of exchange: CacheExchange, copied: CacheCopy.Bytes?)
    /// Stores a response with new header fields. If that fails, the old response remains, because it is still valid.
    func refresh(_ response: CachedResponse, of exchange: CacheExchange)
    /// Removes one response.
    func remove(_ response: CachedResponse, at key: String)
    /// Removes the responses of a URL.
    func remove(_ key: String)
    /// Removes every response.
    func removeAll()
}

/// The responses in memory, and the requests in progress.
final class CacheMemory: ResponseStore {
    private let pages: Locked<CachePages>
    private let capacity: Int

    /// - Parameter capacity: The maximum size of the responses, in bytes.
    init(capacity: Int) {
        self.capacity = capacity
        pages = Locked(CachePages(capacity: capacity))
    }

    /// Begins an exchange, and returns its identifier.
    func begin(_ key: String) -> UInt64 { pages.withLock { $0.begin(key) } }

    func end(_ key: String, _ id: UInt64) { pages.withLock { $0.end(id, at: key) } }

    /// Returns false if the responses of the URL were removed after the request was sent.
    func isCurrent(_ exchange: CacheExchange) -> Bool { pages.withLock { $0.isCurrent(exchange) } }

    var count: Int { pages.withLock { $0.count } }

    func response(at key: String, to request: HTTPRequest) -> CachedResponse? {
        pages.withLock { $0.response(at: key, to: request) }
    }

    func copy(of response: CachedResponse, at key: String) -> CacheCopy? {
        CacheCopy(.data(Data()), limit: largestResponse)
    }

    var largestResponse: Int { capacity / 8 }

    func keep(_ response: CachedResponse?, of exchange: CacheExchange, copied: CacheCopy.Bytes?) {
        var response = response
        if case .data(let data) = copied { response?.body = .data(data) }
        pages.withLock { [response] in $0.keep(response, exchange) }
    }

    func refresh(_ response: CachedResponse, of exchange: CacheExchange) { keep(response, of: exchange, copied: nil) }
    func remove(_ response: CachedResponse, at key: String) { pages.withLock { $0.remove(response, at: key) } }
    func remove(_ key: String) { pages.withLock { $0.remove(key) } }
    func removeAll() { pages.withLock { $0.removeAll() } }
}

extension CacheDirectory: ResponseStore {
    func copy(of response: CachedResponse, at key: String) -> CacheCopy? {
        writer(response, at: key).map { CacheCopy(.file($0)) }
    }

    func keep(_ response: CachedResponse?, of exchange: CacheExchange, copied: CacheCopy.Bytes?) {
        // The directory uses the times of removals to detect which responses other processes have removed. The removals
        // of this process are detected here, without a clock.
        guard exchange.isCurrent else { return }
        let written: CacheFileWriter? = if case .file(let file) = copied { file } else { nil }
        keep(response, to: exchange.asked.request, at: exchange.key, order: exchange.id, written: written)
    }

    func refresh(_ response: CachedResponse, of exchange: CacheExchange) {
        if let file = write(response, at: exchange.key) { keep(response, of: exchange, copied: .file(file)) }
    }
}

/// A request in progress whose response may be stored. The exchange ends when its last reference is released.
final class CacheExchange: Sendable {
    let asked: CacheRequest
    /// The key of the request's URL.
    let key: String
    /// The time at which the request was sent, in nanoseconds since 1970. Each request has a later time than the
    /// requests before it.
    let id: UInt64
    /// The store of the response.
    let store: any ResponseStore
    private let memory: CacheMemory

    init(_ asked: CacheRequest, in store: any ResponseStore, _ memory: CacheMemory) {
        key = CachePages.key(asked.request.url)
        id = memory.begin(key)
        (self.asked, self.store, self.memory) = (asked, store, memory)
    }

    /// True unless the responses of the URL have been removed since the request was sent.
    var isCurrent: Bool { memory.isCurrent(self) }

    /// Stores the response of the exchange: see ``ResponseStore``.
    func keep(_ response: CachedResponse?, copied: CacheCopy.Bytes? = nil) {
        store.keep(response, of: self, copied: copied)
    }

    /// Stores the response with new header fields.
    func refresh(_ response: CachedResponse) { store.refresh(response, of: self) }

    deinit { memory.end(key, id) }
}
