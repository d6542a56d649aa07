import Foundation

/// The cookies of a jar: a value that stores, selects and evicts them.
struct CookieStore: Sendable {
    /// The changes that one received cookie causes. A jar with an `HTTPCookieStorage` makes the same changes in its
    /// storage.
    struct Change: Sendable {
        fileprivate(set) var removed: [Cookie] = []
        /// The received cookie, which replaces any stored cookie with the same key. Nil if the received cookie was not
        /// stored.
        fileprivate(set) var kept: Cookie?
    }

    /// The limits per domain and per jar: the minimums of RFC 6265 section 6.1.
    static let (domainLimit, limit) = (50, 3_000)

    private var domains: [String: [Cookie]] = [:]
    private var count = 0
    private var history: Int64 = 0
    /// A number that increases when the value of a cookie changes.
    private(set) var changes = 0

    var isEmpty: Bool { count == 0 }

    /// All cookies, in the order of creation.
    var cookies: [Cookie] { domains.values.joined().sorted { $0.creation < $1.creation } }

    /// Returns the cookies that a request sends. Cookies with longer paths are first. Cookies whose paths have the same
    /// length are in the order of creation.
    mutating func cookies(for location: CookieLocation, at now: Date) -> [Cookie] {
        history += 1
        var chosen: [Cookie] = []
        for domain in location.domains {
            guard let index = domains.index(forKey: String(domain)) else { continue }
            for position in domains.values[index].indices
            where domains.values[index][position].isSent(to: location, at: now) {
                domains.values[index][position].lastAccess = history
                chosen.append(domains.values[index][position])
            }
        }
        return chosen.sorted { ($1.path.utf8.count, $0.creation) < ($0.path.utf8.count, $1.creation) }
    }

    /// Stores the cookies of a response. The limit of the jar is enforced once, after all cookies have been stored.
    ///
    /// - Returns: The change of each cookie, and the cookies that the limit of the jar removes.
    @discardableResult
    mutating func keep(
        _ cookies: [Cookie], from location: CookieLocation, at now: Date,
        suffixes: @autoclosure () -> CookieJar.PublicSuffixList
    ) -> [Change] {
        let changes = cookies.map { keep($0, from: location, at: now) }
        guard count > CookieStore.limit, let domain = cookies.first?.domain else { return changes }
        return changes + [Change(removed: enforceLimit(addedTo: suffixes().site(of: domain), at: now))]
    }

    /// Stores a cookie. It replaces a stored cookie with the same key, and takes the place of the stored cookie in the
    /// order of creation. An expired cookie is not stored; it only removes the stored cookie with the same key.
    private mutating func keep(_ cookie: Cookie, from location: CookieLocation, at now: Date) -> Change {
        guard location.isSecure || !hidesSecureCookie(cookie, at: now) else { return Change() }
        var (cookie, change) = (cookie, Change())
        history += 1
        (cookie.creation, cookie.lastAccess) = (history, history)
        change.removed = remove(from: cookie.domain) { $0.isExpired(at: now) }
        let replaced = remove(from: cookie.domain) { $0.hasKey(of: cookie) }
        guard !cookie.isExpired(at: now) else {
            change.removed += replaced
            changes += replaced.count
            return change
        }
        if replaced.first?.value != cookie.value { changes += 1 }
        if let replaced = replaced.first {
            cookie.creation = replaced.creation
            // Otherwise, a server could make the cookies of another server foreign by redirecting to that server.
            cookie.isForeign = cookie.isForeign && replaced.isForeign
        }
        domains[cookie.domain, default: []].append(cookie)
        count += 1
        let evicted = enforceLimit(of: cookie.domain)
        change.removed += evicted
        change.kept = evicted.contains { $0.hasKey(of: cookie) } ? nil : cookie
        return change
    }

    /// Removes all cookies.
    mutating func removeAll() {
        let changes = changes
        self = CookieStore()
        self.changes = changes + 1
    }

    /// Replaces all cookies with those of an `HTTPCookieStorage`. Known cookies keep their place in the order
    /// of creation, even if their value has changed.
    mutating func adopt(_ cookies: [Cookie]) {
        let (known, knownCount) = (domains, count)
        (domains, count) = ([:], cookies.count)
        var new: [Cookie] = []
        var isSame = cookies.count == knownCount
        for var cookie in cookies {
            guard let old = known[cookie.domain]?.first(where: { $0.hasKey(of: cookie) }) else {
                new.append(cookie)
                continue
            }
            isSame = isSame && cookie.value == old.value
            (cookie.creation, cookie.lastAccess) = (old.creation, old.lastAccess)
            cookie.isForeign = old.isForeign
            domains[cookie.domain, default: []].append(cookie)
        }
        if !isSame || !new.isEmpty { changes += 1 }
        // Foundation returns them in random order.
        for var cookie in new.sorted(by: { $0.precedes($1) }) {
            history += 1
            cookie.creation = history
            domains[cookie.domain, default: []].append(cookie)
        }
    }

    /// Whether a cookie that was received without TLS would replace a Secure cookie or be sent before a Secure cookie.
    private func hidesSecureCookie(_ new: Cookie, at now: Date) -> Bool {
        domains.contains { domain, cookies in
            // Few cookies have the same name as the new cookie, so the names are compared first.
            cookies.contains {
                $0.isSecure && $0.hasName(of: new) && $0.includes(path: new.path) && !$0.isExpired(at: now)
            } && (HostName.matches(domain, domain: new.domain) || HostName.matches(new.domain, domain: domain))
        }
    }

    /// Removes the least recently used cookie of a domain that has too many. A Secure cookie is removed only if the
    /// domain has no other cookies. Otherwise, responses over http could fill the domain and so remove its Secure
    /// cookies.
    private mutating func enforceLimit(of domain: String) -> [Cookie] {
        func leastRecentlyUsed(_ cookies: [Cookie]) -> Cookie? {
            // Cookies that other code has added may never have been used.
            cookies.min { ($0.lastAccess, $0.creation) < ($1.lastAccess, $1.creation) }
        }
        guard let cookies = domains[domain], cookies.count > CookieStore.domainLimit,
            let oldest = leastRecentlyUsed(cookies.filter { !$0.isSecure }) ?? leastRecentlyUsed(cookies)
        else { return [] }
        return remove(from: domain) { $0.hasKey(of: oldest) }
    }

    /// Removes cookies of a jar that has too many. All expired cookies are removed first. If that is not enough, the
    /// least recently used cookies of three groups are removed, one group after the other. The first group is the
    /// cookies of the site that has added cookies, if this site has many. Without this rule, one site could remove the
    /// cookies of all other sites. The second group is foreign cookies, because a server can redirect to any number of
    /// sites. The third group is all others.
    private mutating func enforceLimit(addedTo site: String, at now: Date) -> [Cookie] {
        var evicted: [Cookie] = []
        for domain in Array(domains.keys) { evicted += remove(from: domain) { $0.isExpired(at: now) } }
        guard count > CookieStore.limit else { return evicted }
        let own = Set(domains.keys.filter { HostName.matches($0, domain: site) })
        let isFull = own.reduce(0) { $0 + (domains[$1]?.count ?? 0) } > CookieStore.domainLimit
        func rank(_ cookie: Cookie) -> Int { isFull && own.contains(cookie.domain) ? 0 : cookie.isForeign ? 1 : 2 }
        let order = domains.values.joined().map { (rank: rank($0), cookie: $0) }.sorted {
            ($0.rank, $0.cookie.lastAccess, $0.cookie.creation) < ($1.rank, $1.cookie.lastAccess, $1.cookie.creation)
        }
        for (_, cookie) in order.prefix(count - CookieStore.limit) {
            evicted += remove(from: cookie.domain) { $0.hasKey(of: cookie) }
        }
        return evicted
    }

    private mutating func remove(from domain: String, where isGone: (Cookie) -> Bool) -> [Cookie] {
        guard let cookies = domains[domain] else { return [] }
        let gone = cookies.filter(isGone)
        guard !gone.isEmpty else { return [] }
        let left = cookies.filter { !isGone($0) }
        domains[domain] = left.isEmpty ? nil : left
        count -= gone.count
        return gone
    }
}
