extension HTTPHeader {
    /// The name of a header field, [RFC 9110 section 5.1](https://www.rfc-editor.org/rfc/rfc9110#section-5.1).
    ///
    /// Names are compared without regard to the case of ASCII letters. They retain their original spelling.
    /// If a name is not a token, sending the request fails with ``NetworkError/Kind/invalidRequest``.
    public struct Name: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name with its original spelling, as it is sent.
        public let rawValue: String

        /// Creates a name. Its spelling is retained.
        public init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        /// Creates a name from a string literal. Its spelling is retained.
        public init(stringLiteral value: String) {
            self.rawValue = value
        }

        /// The name with its original spelling, as it is sent.
        public var description: String { rawValue }

        /// Whether two names are equal, ignoring the case of ASCII letters.
        public static func == (lhs: HTTPHeader.Name, rhs: HTTPHeader.Name) -> Bool {
            // The lengths are compared first, because most names differ in length.
            lhs.rawValue.utf8.count == rhs.rawValue.utf8.count && lhs.isSpelled(like: rhs)
        }

        private func isSpelled(like other: HTTPHeader.Name) -> Bool {
            if rawValue == other.rawValue { return true }
            let isEqual = rawValue.utf8.withContiguousStorageIfAvailable { left in
                other.rawValue.utf8.withContiguousStorageIfAvailable { HTTPGrammar.isEqualIgnoringCase(left, $0) }
            }
            if case .some(.some(let isEqual)) = isEqual { return isEqual }
            return HTTPGrammar.isEqualIgnoringCase(rawValue.utf8, other.rawValue.utf8)
        }

        /// Hashes the name, ignoring the case of ASCII letters.
        public func hash(into hasher: inout Hasher) {
            for byte in rawValue.utf8 { hasher.combine(HTTPGrammar.lowercased(byte)) }
        }

        /// Whether values of this name are known to be credentials.
        ///
        /// The values of all other names are also treated as secrets, except the values of the names in ``harmless``,
        /// such as `Accept`. Descriptions do not show a secret value. If the value is a URL (`Location`), descriptions
        /// hide only its secret parts. For redirects to another origin, see ``mayLeaveOrigin``.
        var isSensitive: Bool {
            HTTPHeader.Name.sensitiveNames.contains(self)
        }

        // An array is faster than a set here: names of different lengths are unequal at once, without a hash.
        private static let sensitiveNames: [HTTPHeader.Name] = [
            .authorization, .proxyAuthorization, .cookie, .setCookie, "Cookie2", "Set-Cookie2", "X-Api-Key", "Api-Key",
            "X-Auth-Token", "X-Access-Token", "X-Csrf-Token", "X-Amz-Security-Token",
        ]
    }
}

extension HTTPHeader.Name {
    /// The names whose values are not secret. Descriptions show these values. A redirect to another origin retains
    /// these fields, except those that are meant for one server (``ofOneOrigin``). The values of all
    /// other names are treated as secrets, but descriptions show the harmless parts of URLs, as in `Location`.
    static let harmless: Set<HTTPHeader.Name> = [
        .accept, "Accept-Charset", .acceptEncoding, .acceptLanguage, "Accept-Ranges", "Age", "Allow", "Alt-Svc",
        .cacheControl, "Connection", "Content-Disposition", .contentEncoding, .contentLanguage, .contentLength,
        "Content-Range", .contentType, .date, "dpi", .eTag, "Expect", "Expires", "Host", .ifMatch, .ifModifiedSince,
        .ifNoneMatch, .ifRange, .ifUnmodifiedSince, "Keep-Alive", "Last-Modified", "Max-Forwards", "Origin", "Pragma",
        .range, "RateLimit", "RateLimit-Policy", .retryAfter, "Server", "Server-Timing", "TE", "Trailer",
        "Transfer-Encoding", "traceparent", "Tus-Checksum-Algorithm", "Tus-Extension", "Tus-Max-Size", "Tus-Resumable",
        "Tus-Version", "Upgrade", "Upload-Expires", "Upload-Length", "Upload-Offset", .userAgent, "Vary", "Via",
        "Warning", "X-Correlation-Id", "X-Request-Id",
    ]

    var isHarmless: Bool { HTTPHeader.Name.harmless.contains(self) }

    /// Whether a redirect to another origin may send the field. True if the name is harmless, or if the request would
    /// have another meaning without the field. Redirects nevertheless remove the fields that are meant for one server,
    /// such as `Host` and `traceparent`.
    var mayLeaveOrigin: Bool { isHarmless || HTTPHeader.Name.meaningful.contains(self) }

    /// The names of harmless fields that are meant for one server: conditions, and fields about the request's origin,
    /// target or trace. `Range` and `If-Range` are not among them, because a download continues at the target of a
    /// redirect.
    static let ofOneOrigin: [HTTPHeader.Name] = [.host, .traceparent, .tracestate, .origin, "TE"] + conditions

    /// The names of the conditions of a request: RFC 9110 section 13.1 without `If-Range`, RFC 4918 section 10.4, RFC
    /// 6638 section 8.3.
    static let conditions: [HTTPHeader.Name] = [
        .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, "If", "If-Schedule-Tag-Match",
    ]

    /// Whether the value may identify the user. If it may, a stored response applies only to requests with the same
    /// value. True if the name is not harmless and its value normally stays the same from request to request.
    var mayIdentifyUser: Bool { !isHarmless && !HTTPHeader.Name.changing.contains(self) }

    private static let changing: Set<HTTPHeader.Name> = [.idempotencyKey, "tracestate", "Last-Event-ID"]

    private static let meaningful: Set<HTTPHeader.Name> = [
        .idempotencyKey, "X-HTTP-Method-Override", "Last-Event-ID", "Prefer", "Depth", "Overwrite",
        "Upload-Metadata", "Upload-Checksum",
    ]
}

/// The field names that clients use most often. Most of them are in the [IANA
/// registry](https://www.iana.org/assignments/http-fields). Write any other name as a string literal: `"Forwarded"`.
extension HTTPHeader.Name {
    /// `Accept`.
    public static let accept = HTTPHeader.Name("Accept")
    /// `Accept-Encoding`.
    public static let acceptEncoding = HTTPHeader.Name("Accept-Encoding")
    /// `Accept-Language`.
    public static let acceptLanguage = HTTPHeader.Name("Accept-Language")
    /// `Accept-Ranges`.
    public static let acceptRanges = HTTPHeader.Name("Accept-Ranges")
    /// `Age`.
    public static let age = HTTPHeader.Name("Age")
    /// `Allow`.
    public static let allow = HTTPHeader.Name("Allow")
    /// `Authorization`.
    public static let authorization = HTTPHeader.Name("Authorization")
    /// `Cache-Control`.
    public static let cacheControl = HTTPHeader.Name("Cache-Control")
    /// `Connection`.
    static let connection = HTTPHeader.Name("Connection")
    /// `Content-Disposition`.
    public static let contentDisposition = HTTPHeader.Name("Content-Disposition")
    /// `Content-Encoding`.
    public static let contentEncoding = HTTPHeader.Name("Content-Encoding")
    /// `Content-Language`.
    static let contentLanguage = HTTPHeader.Name("Content-Language")
    /// `Content-Length`.
    public static let contentLength = HTTPHeader.Name("Content-Length")
    /// `Content-Location`.
    static let contentLocation = HTTPHeader.Name("Content-Location")
    /// `Content-Range`.
    public static let contentRange = HTTPHeader.Name("Content-Range")
    /// `Content-Type`.
    public static let contentType = HTTPHeader.Name("Content-Type")
    /// `Cookie`.
    public static let cookie = HTTPHeader.Name("Cookie")
    /// `Date`.
    public static let date = HTTPHeader.Name("Date")
    /// `ETag`.
    public static let eTag = HTTPHeader.Name("ETag")
    /// `Expect`.
    static let expect = HTTPHeader.Name("Expect")
    /// `Expires`.
    public static let expires = HTTPHeader.Name("Expires")
    /// `Host`.
    public static let host = HTTPHeader.Name("Host")
    /// `Idempotency-Key`.
    public static let idempotencyKey = HTTPHeader.Name("Idempotency-Key")
    /// `If-Match`.
    public static let ifMatch = HTTPHeader.Name("If-Match")
    /// `If-Modified-Since`.
    public static let ifModifiedSince = HTTPHeader.Name("If-Modified-Since")
    /// `If-None-Match`.
    public static let ifNoneMatch = HTTPHeader.Name("If-None-Match")
    /// `Last-Event-ID`, which server-sent events use.
    public static let lastEventID = HTTPHeader.Name("Last-Event-ID")
    /// `If-Range`.
    public static let ifRange = HTTPHeader.Name("If-Range")
    /// `If-Unmodified-Since`.
    public static let ifUnmodifiedSince = HTTPHeader.Name("If-Unmodified-Since")
    /// `Last-Modified`.
    public static let lastModified = HTTPHeader.Name("Last-Modified")
    /// `Link`.
    public static let link = HTTPHeader.Name("Link")
    /// `Location`.
    public static let location = HTTPHeader.Name("Location")
    /// `Origin`.
    static let origin = HTTPHeader.Name("Origin")
    /// `Pragma`.
    static let pragma = HTTPHeader.Name("Pragma")
    /// `Proxy-Authorization`.
    public static let proxyAuthorization = HTTPHeader.Name("Proxy-Authorization")
    /// `Range`.
    public static let range = HTTPHeader.Name("Range")
    /// `Referer`.
    public static let referer = HTTPHeader.Name("Referer")
    /// `Retry-After`.
    public static let retryAfter = HTTPHeader.Name("Retry-After")
    /// `Server`.
    static let server = HTTPHeader.Name("Server")
    /// `Set-Cookie`.
    public static let setCookie = HTTPHeader.Name("Set-Cookie")
    /// `traceparent`.
    static let traceparent = HTTPHeader.Name("traceparent")
    /// `tracestate`.
    static let tracestate = HTTPHeader.Name("tracestate")
    /// `Transfer-Encoding`.
    static let transferEncoding = HTTPHeader.Name("Transfer-Encoding")
    /// `User-Agent`.
    public static let userAgent = HTTPHeader.Name("User-Agent")
    /// `Vary`.
    public static let vary = HTTPHeader.Name("Vary")
    /// `WWW-Authenticate`.
    public static let wwwAuthenticate = HTTPHeader.Name("WWW-Authenticate")
    /// `X-Request-ID`.
    public static let xRequestID = HTTPHeader.Name("X-Request-ID")
}
