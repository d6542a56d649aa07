import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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
