import Foundation

/// The stored responses, grouped by URL, and the requests in progress.
struct CachePages: Sendable {
    private struct Page: Sendable {
        var responses: [CachedResponse]
        var size: Int
        /// The value of `uses` at the last use.
        var use: UInt64
    }

    /// The maximum size of the responses, in bytes.
    let capacity: Int
    private var pages: [String: Page] = [:]
    private var uses: UInt64 = 0
    private var size = 0
    private var lastID: UInt64 = 0
    /// The identifiers of the requests in progress whose responses may be stored, by key.
    private var exchanges: [String: Set<UInt64>] = [:]

    init(capacity: Int) { self.capacity = capacity }

    /// Returns the key of a URL. The key contains no fragment, because a fragment is not sent (RFC 9110 section 4.1).
    /// Its scheme and host are in lower case, and a default port is omitted (section 4.2.3).
    static func key(_ url: URL) -> String {
        guard let origin = HTTPOrigin(url) else { return url.absoluteString }
        let path = url.path(percentEncoded: true)
        let query = url.query(percentEncoded: true).map { "?" + $0 } ?? ""
        return "\(origin.scheme)://\(origin.host):\(origin.port)\(path.isEmpty ? "/" : path)\(query)"
    }

    var count: Int { pages.values.reduce(0) { $0 + $1.responses.count } }

    mutating func removeAll() {
        pages = [:]
        size = 0
        exchanges = [:]
    }

    mutating func remove(_ key: String) {
        exchanges[key] = nil
        removePage(key)
    }

    private mutating func removePage(_ key: String) {
        if let removed = pages.removeValue(forKey: key) { size -= removed.size }
    }

    mutating func response(at key: String, to request: HTTPRequest) -> CachedResponse? {
        guard let index = pages.index(forKey: key), let found = pages.values[index].responses.mostSuitable(for: request)
        else { return nil }
        uses += 1
        pages.values[index].use = uses
        return found
    }

    mutating func begin(_ key: String) -> UInt64 {
        lastID = max(lastID + 1, CacheRemovals.now())
        exchanges[key, default: []].insert(lastID)
        return lastID
    }

    mutating func end(_ id: UInt64, at key: String) {
        exchanges[key]?.remove(id)
        if exchanges[key]?.isEmpty == true { exchanges[key] = nil }
    }

    /// Returns false if the responses of the URL were removed after the request was sent.
    func isCurrent(_ exchange: CacheExchange) -> Bool { exchanges[exchange.key]?.contains(exchange.id) == true }

    /// Stores a response, and removes the stored responses that apply to its request. If the response is nil, only
    /// removes them. Does nothing if the responses of the URL were removed during the request.
    mutating func keep(_ response: CachedResponse?, _ exchange: CacheExchange) {
        guard isCurrent(exchange) else { return }
        let (request, existing) = (exchange.asked.request, pages[exchange.key]?.responses ?? [])
        let replaced = existing.filter { $0.audience.contains(request) }
        guard !replaced.contains(where: { $0.order > exchange.id }) else { return }
        // A partial response does not replace a complete response.
        if response?.part != nil, replaced.contains(where: { $0.part == nil }) { return }
        var response = response
        response?.order = exchange.id
        var responses = existing.filter { !$0.audience.contains(request) }
        if let response, response.size <= capacity / 8 { responses = responses.suffix(7) + [response] }
        set(responses, at: exchange.key)
        makeRoom()
    }

    mutating func remove(_ response: CachedResponse, at key: String) {
        guard let page = pages[key] else { return }
        set(page.responses.filter { $0.audience != response.audience }, at: key)
    }

    private mutating func set(_ responses: [CachedResponse], at key: String) {
        removePage(key)
        guard !responses.isEmpty else { return }
        uses += 1
        let page = Page(responses: responses, size: responses.reduce(key.utf8.count) { $0 + $1.size }, use: uses)
        pages[key] = page
        size += page.size
    }

    /// If the size exceeds the capacity, removes the least recently used URLs until an eighth of the capacity is free.
    /// Because of this free space, the URLs are not sorted each time a response is stored.
    private mutating func makeRoom() {
        guard size > capacity else { return }
        for (key, _) in pages.map({ ($0.key, $0.value.use) }).sorted(by: { $0.1 < $1.1 }) {
            guard size > capacity - capacity / 8 else { return }
            removePage(key)
        }
    }
}
