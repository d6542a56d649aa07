extension HTTPHeader {
    /// The name of a header field, [RFC 9110 section 5.1](https://www.rfc-editor.org/rfc/rfc9110#section-5.1).
    ///
    /// Names are equal without regard to the case of ASCII letters and keep the spelling they were made with.
    /// A name that is no token is refused when the request is sent, with ``NetworkError/Kind/invalidRequest``.
    public struct Name: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name as it goes on the wire.
        public let rawValue: String

        /// Makes a name of its spelling.
        public init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        /// Makes a name of its spelling.
        public init(stringLiteral value: String) {
            self.rawValue = value
        }

        /// The name as it goes on the wire.
        public var description: String { rawValue }

        /// Whether two names are the same, without regard to case.
        public static func == (lhs: HTTPHeader.Name, rhs: HTTPHeader.Name) -> Bool {
            let left = lhs.rawValue.utf8
            let right = rhs.rawValue.utf8
            guard left.count == right.count else { return false }
            if lhs.rawValue == rhs.rawValue { return true }
            let isEqual = left.withContiguousStorageIfAvailable { left in
                right.withContiguousStorageIfAvailable { right in HTTPGrammar.isEqualIgnoringCase(left, right) }
            }
            if case .some(.some(let isEqual)) = isEqual { return isEqual }
            return HTTPGrammar.isEqualIgnoringCase(left, right)
        }

        /// Hashes the name without regard to case.
        public func hash(into hasher: inout Hasher) {
            for byte in rawValue.utf8 { hasher.combine(HTTPGrammar.lowercased(byte)) }
        }

        /// Whether values under this name are known to be credentials. Values under other names are not shown either, and
        /// not sent to another origin by a redirect, unless the name is one of those that are harmless, such as `Accept`.
        var isSensitive: Bool {
            HTTPHeader.Name.sensitiveNames.contains(self)
        }

        // An array: names of another length differ at once, which is faster than hashing.
        private static let sensitiveNames: [HTTPHeader.Name] = [
            .authorization, .proxyAuthorization, .cookie, .setCookie, "Cookie2", "Set-Cookie2", "X-Api-Key", "Api-Key",
            "X-Auth-Token", "X-Access-Token", "X-Csrf-Token", "X-Amz-Security-Token",
        ]
    }
}

extension HTTPHeader.Name {
    /// The names whose values are harmless: they are shown in texts, and kept when a redirect leads to another origin.
    /// Every other value is taken for a secret.
    static let harmless: Set<HTTPHeader.Name> = [
        .accept, "Accept-Charset", .acceptEncoding, .acceptLanguage, "Accept-Ranges", "Age", "Allow", "Alt-Svc",
        .cacheControl, "Connection", "Content-Disposition", .contentEncoding, .contentLanguage, .contentLength,
        "Content-Range", .contentType, .date, "dpi", .eTag, "Expect", "Expires", "Host", .ifMatch, .ifModifiedSince,
        .ifNoneMatch, .ifRange, .ifUnmodifiedSince, "Keep-Alive", "Last-Modified", "Max-Forwards", "Origin", "Pragma",
        .range, "RateLimit", "RateLimit-Policy", .retryAfter, "Server", "Server-Timing", "TE", "Trailer",
        "Transfer-Encoding", "traceparent", "Upgrade", .userAgent, "Vary", "Via", "Warning",
        "X-Correlation-Id", "X-Request-Id",
    ]

    var isHarmless: Bool { HTTPHeader.Name.harmless.contains(self) }

    /// Whether the field is sent to another origin, too: it is harmless, or the request would mean something else
    /// without it.
    var mayLeaveOrigin: Bool { isHarmless || HTTPHeader.Name.meaningful.contains(self) }

    /// Whether the value may say who the user is, so that a response is for requests with the same value only: it is
    /// not harmless, and it does not differ from request to request by its purpose.
    var mayIdentifyUser: Bool { !isHarmless && !HTTPHeader.Name.changing.contains(self) }

    private static let changing: Set<HTTPHeader.Name> = [.idempotencyKey, "tracestate", "Last-Event-ID"]

    private static let meaningful: Set<HTTPHeader.Name> = [
        .idempotencyKey, "X-HTTP-Method-Override", "Last-Event-ID", "Prefer",
    ]
}
