/// A request in progress whose response may be stored. The exchange ends when its last reference is released.
final class CacheExchange: Sendable {
    let place: CachePages.Exchange
    private let end: @Sendable () -> Void

    init(_ place: CachePages.Exchange, end: @escaping @Sendable () -> Void) {
        (self.place, self.end) = (place, end)
    }

    deinit {
        end()
    }
}
