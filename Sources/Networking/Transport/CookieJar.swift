public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The cookies of one service, in a storage of Foundation's. A service has none unless it is given one: `cookies: CookieJar()`.
///
/// Which cookies a request carries is decided here, by RFC 6265 section 5.4: host, path, `Secure` and expiry, which Foundation's storage on Linux
/// does not look at. Every method is safe from any thread.
public final class CookieJar: Sendable {
    private let storage: HTTPCookieStorage
    private let date: @Sendable () -> Date
    /// Whether nothing can be in the jar: a storage of somebody else's is looked into each time. Its lock is held while cookies are replaced,
    /// so that nobody finds the jar between the old one and the new one.
    private let isUnused: Locked<Bool>

    /// Makes a jar.
    ///
    /// - Parameters:
    ///   - storage: Where the cookies are kept; unless one is given, in memory and nowhere else.
    ///   - clock: What tells when a cookie has ended.
    public init(_ storage: HTTPCookieStorage? = nil, clock: NetworkClock = .continuous) {
        isUnused = Locked(storage == nil)
        self.storage = storage ?? URLSessionConfiguration.ephemeral.httpCookieStorage ?? .shared
        date = clock.date
    }

    /// Every cookie in the jar.
    public var cookies: [HTTPCookie] { storage.cookies ?? [] }

    /// The cookies that a request to a URL carries, those with the longest path first.
    public func cookies(for url: URL) -> [HTTPCookie] {
        CookieJar.choose(isUnused.withLock { _ in cookies }, for: url, at: date())
    }

    private static func choose(_ cookies: [HTTPCookie], for url: URL, at now: Date) -> [HTTPCookie] {
        cookies.filter { $0.goes(to: url, at: now) }.sorted { ($1.path.count, $0.name) < ($0.path.count, $1.name) }
    }

    /// Empties the jar.
    public func removeAll() {
        for cookie in cookies { storage.deleteCookie(cookie) }
    }

    /// Takes what an answer sets.
    func keep(_ headers: HTTPHeaders, from url: URL) {
        let now = date()
        let news = headers.values(for: .setCookie).compactMap { SetCookie($0, from: url, at: now) }
        guard !news.isEmpty else { return }
        isUnused.withLock { isUnused in
            isUnused = false
            for new in news {
                for old in cookies where new.replaces(old) { storage.deleteCookie(old) }
                if let cookie = new.cookie(at: now) { storage.setCookie(cookie) }
            }
        }
    }

    /// The value of `Cookie` for a URL; nil where there is nothing to send.
    func field(for url: URL) -> String? {
        let kept = isUnused.withLock { $0 ? [] : cookies }
        guard !kept.isEmpty else { return nil }
        let chosen = CookieJar.choose(kept, for: url, at: date())
        return chosen.isEmpty ? nil : chosen.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }
}

extension HTTPCookie {
    fileprivate func goes(to url: URL, at now: Date) -> Bool {
        guard let host = url.host?.lowercased(), expiresDate.map({ $0 > now }) ?? true else { return false }
        guard !isSecure || url.scheme?.lowercased() == "https" else { return false }
        let isForSubdomains = domain.hasPrefix(".")
        guard host == domain || isForSubdomains && SetCookie.covers(String(domain.dropFirst()), host) else {
            return false
        }
        let target = url.path(percentEncoded: true)
        return target == path || path == "/" || target.hasPrefix(path.hasSuffix("/") ? path : path + "/")
    }
}
