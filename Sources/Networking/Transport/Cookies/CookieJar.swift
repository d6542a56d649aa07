public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The cookies of one service, or of several services that share the jar.
///
/// A service stores no cookies unless it has a jar: `$0.cookies = CookieJar()`. All methods can be called from any
/// thread.
///
/// The rules are those of [RFC 6265](https://www.rfc-editor.org/rfc/rfc6265) and of its successor,
/// [6265bis](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis), on all platforms:
///
/// - **Fields.** A `Set-Cookie` field is ignored if it has a control character other than TAB, if it has no name, or if
///   its name and value together have more than 4,096 bytes. An attribute value of more than 1,024 bytes is ignored.
/// - **Domain.** The `Domain` attribute must be the host or a domain above it, and not a public suffix: a server of
///   `shop.co.uk` cannot set a cookie for all of `co.uk`. See ``PublicSuffixList``. International domains are compared
///   as punycode.
/// - **Secure.** `Secure` cookies are received and sent over `https` only, even for `localhost`. A response over `http`
///   can neither replace nor hide them. A cookie whose name starts with `__Secure-` or `__Host-` must have the
///   attributes that the prefix requires.
/// - **Order.** Cookies with longer paths are sent first. Cookies whose paths have the same length are sent in the
///   order of creation. A cookie that replaces a stored cookie takes the position of the stored cookie in this order.
/// - **Lifetime.** A cookie expires after at most 400 days. Cookies without `Max-Age` and `Expires` live as long as the
///   jar.
/// - **Limits.** Only the first 50 `Set-Cookie` fields of a response are read. A jar stores 50 cookies per domain and
///   3,000 in total. If a limit is exceeded, the jar removes expired cookies. If the limit is still exceeded, the jar
///   removes the least recently used cookie. Within a domain, the jar removes a `Secure` cookie only if the domain has
///   no other cookies. ``cookies(for:)`` counts as a use. If the total limit is still exceeded, the jar first removes
///   cookies of the site that is storing a cookie, if this site has many. Next, the jar removes cookies of servers to
///   which other servers have redirected.
/// - **Other attributes.** `SameSite` and `Partitioned` are ignored, since a service has no pages. `HttpOnly` has no
///   effect on requests, and is visible in ``cookies``.
///
/// On Linux, ``URLSessionTransport`` receives the `Set-Cookie` fields of a response as one text, in which they are
/// joined by commas. It splits this text as well as possible: a value that contains a comma may become two cookies.
///
/// ## Foundation's storage
///
/// By default, cookies are stored in memory. A jar that is created with an `HTTPCookieStorage` reads the storage for
/// each request and writes each change to it. The same rules apply, with these exceptions:
///
/// - The order of creation is known only for cookies that this jar has seen. Other cookies are sent in the order of
///   their names.
/// - On Linux, the storage cannot distinguish cookies whose domain, path and name are the same text when joined, such
///   as `y` for the path `/x` and `xy` for the path `/`. It stores only the last one.
/// - On Linux, the storage loses `Secure` and `HttpOnly` when it reads its file in a new process. A cookie that was
///   `Secure` is then also sent over `http`.
public final class CookieJar: Sendable {
    private let storage: HTTPCookieStorage?
    private let suffixes: PublicSuffixList?
    private let date: @Sendable () -> Date
    private let store = Locked(CookieStore())

    /// Creates a jar.
    ///
    /// ```swift
    /// let jar = CookieJar(publicSuffixes: try CookieJar.PublicSuffixList(contentsOf: listInBundle))
    /// ```
    ///
    /// - Parameters:
    ///   - storage: A Foundation storage, for example `.shared`, which writes cookies to disk. Default: nil, which
    ///     means that cookies are stored in memory only.
    ///   - publicSuffixes: The domains for which cookies are rejected. Default:
    ///     `/usr/share/publicsuffix/public_suffix_list.dat`, which Debian's package `publicsuffix` installs. Without
    ///     this file, only single labels such as `com` are rejected; `co.uk` is not.
    ///   - clock: The clock by which cookies expire.
    public init(
        _ storage: HTTPCookieStorage? = nil, publicSuffixes: PublicSuffixList? = nil, clock: NetworkClock = .continuous
    ) {
        self.storage = storage
        suffixes = publicSuffixes
        date = clock.date
    }

    /// All cookies that Foundation can represent, in the order of creation. If the jar has a storage, these are all
    /// cookies of the storage, in any order.
    public var cookies: [HTTPCookie] {
        if let storage { return storage.cookies ?? [] }
        let now = date()
        return store.withLock { $0.cookies }.filter { !$0.isExpired(at: now) }.compactMap(HTTPCookie.init)
    }

    /// Returns the cookies that a request to a URL sends, in the order in which they are sent.
    public func cookies(for url: URL) -> [HTTPCookie] {
        let stored = storage?.cookies ?? []
        return select(for: url, from: stored).compactMap { cookie in
            stored.first { Cookie($0)?.hasKey(of: cookie) == true } ?? HTTPCookie(cookie)
        }
    }

    /// Removes all cookies.
    public func removeAll() {
        for cookie in storage?.cookies ?? [] { storage?.deleteCookie(cookie) }
        store.withLock { $0.removeAll() }
    }

    /// Stores the cookies that a response sets.
    ///
    /// - Parameter isForeign: Whether the server was called only because a server of another origin has redirected to
    ///   it. Default: false.
    package func keep(_ headers: HTTPHeaders, from url: URL, isForeign: Bool = false) {
        guard let location = CookieLocation(url) else { return }
        let now = date()
        let fields = headers.values(for: .setCookie).prefix(CookieJar.mostFields)
        let received = fields.compactMap(SetCookie.init).compactMap { field -> Cookie? in
            var cookie = Cookie(field, from: location, at: now, suffixes: suffixes ?? .system)
            cookie?.isForeign = isForeign
            return cookie
        }
        guard !received.isEmpty else { return }
        let stored = storage?.cookies?.compactMap(Cookie.init)
        let changes = store.withLock { store in
            if let stored { store.adopt(stored) }
            return store.keep(received, from: location, at: now, suffixes: suffixes ?? .system)
        }
        // The storage is changed outside the lock, because it notifies observers. The storage replaces a cookie in one
        // step, so that no request misses the cookie.
        guard let storage else { return }
        for change in changes {
            for cookie in change.removed { HTTPCookie(cookie).map(storage.deleteCookie) }
            if let cookie = change.kept { HTTPCookie(cookie).map(storage.setCookie) }
        }
    }

    /// A number that increases when the value of a cookie changes. This includes changes by other code that uses the
    /// jar's storage.
    var changes: Int {
        let stored = storage.map { ($0.cookies ?? []).compactMap(Cookie.init) }
        return store.withLock { store in
            if let stored { store.adopt(stored) }
            return store.changes
        }
    }

    /// The number of `Set-Cookie` fields of a response that are read. libcurl has the same limit.
    private static let mostFields = 50

    /// The maximum length of the `Cookie` field: 8,190 bytes. Most servers reject a longer field. Without this limit,
    /// one server of a site could prevent all requests to the other servers of the site.
    private static let longestField = 8_190

    /// Returns the value of the `Cookie` field for a URL; nil if no cookie is to be sent. If cookies do not fit,
    /// foreign cookies are omitted first. Next, cookies that other servers of the site can set are omitted, and then
    /// cookies that are not `Secure`. Among cookies of the same kind, those with shorter paths are omitted first, and
    /// then the newest cookies.
    package func field(for url: URL) -> String? {
        let cookies = select(for: url, from: storage?.cookies ?? [])
        guard !cookies.isEmpty else { return nil }
        let pairs = cookies.map { "\($0.name)=\($0.value)" }
        if pairs.reduce(0, { $0 + $1.utf8.count + 2 }) <= CookieJar.longestField {
            return pairs.joined(separator: "; ")
        }
        var room = CookieJar.longestField + 2
        var fits = [Bool](repeating: false, count: pairs.count)
        let order = pairs.indices.sorted { (cookies[$0].rank, $0) < (cookies[$1].rank, $1) }
        for index in order where pairs[index].utf8.count + 2 <= room {
            room -= pairs[index].utf8.count + 2
            fits[index] = true
        }
        let sent = pairs.indices.filter { fits[$0] }.map { pairs[$0] }
        return sent.isEmpty ? nil : sent.joined(separator: "; ")
    }

    private func select(for url: URL, from stored: [HTTPCookie]) -> [Cookie] {
        let isEmpty = storage == nil ? store.withLock { $0.isEmpty } : stored.isEmpty
        guard !isEmpty, let location = CookieLocation(url) else { return [] }
        let (now, found) = (date(), stored.compactMap(Cookie.init))
        return store.withLock { store in
            if storage != nil { store.adopt(found) }
            return store.cookies(for: location, at: now)
        }
    }
}

extension Cookie {
    /// The priority of a cookie for the space in the `Cookie` field. A cookie with a lower rank is added first.
    fileprivate var rank: Int { (isForeign ? 4 : 0) + (isHostOnly ? 0 : 2) + (isSecure ? 0 : 1) }
}

extension CookieJar: RedactedReflectable {
    /// The number of cookies; no names or values.
    var redactedDescription: String { "CookieJar (\(cookies.count) cookies)" }
}

extension HTTPCookie {
    /// Returns nil for a cookie that Foundation cannot represent.
    convenience init?(_ cookie: Cookie) {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: cookie.name, .value: cookie.value, .path: cookie.path,
            .domain: cookie.isHostOnly ? cookie.domain : ".\(cookie.domain)",
        ]
        if cookie.isSecure { properties[.secure] = "TRUE" }
        // Foundation reads this key on all platforms, but has no public constant for it.
        if cookie.isHTTPOnly { properties[HTTPCookiePropertyKey(rawValue: "HttpOnly")] = "TRUE" }
        if let expires = cookie.expires { properties[.expires] = expires } else { properties[.discard] = "TRUE" }
        self.init(properties: properties)
    }
}

extension Cookie {
    /// Returns nil for a cookie that cannot be sent. Other code may have stored such a cookie in the storage.
    ///
    /// In Foundation, a dot at the start of the domain marks a cookie that is also sent to subdomains.
    init?(_ cookie: HTTPCookie) {
        guard !cookie.name.isEmpty, HTTPGrammar.isFieldValue("\(cookie.name)=\(cookie.value)") else { return nil }
        let domain = cookie.domain.lowercased()
        isHostOnly = domain.utf8.first != UInt8(ascii: ".")
        self.domain = isHostOnly ? domain : String(domain.dropFirst())
        (name, value, path) = (cookie.name, cookie.value, cookie.path)
        (isSecure, isHTTPOnly, expires) = (cookie.isSecure, cookie.isHTTPOnly, cookie.expiresDate)
    }
}
