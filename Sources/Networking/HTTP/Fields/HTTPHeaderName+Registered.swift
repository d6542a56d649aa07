/// The names of the [IANA registry of header fields](https://www.iana.org/assignments/http-fields) that clients meet
/// most; any other one is a string literal, such as `"Forwarded"`.
extension HTTPHeaderName {
    /// `Accept`.
    public static let accept = HTTPHeaderName("Accept")
    /// `Accept-Encoding`.
    public static let acceptEncoding = HTTPHeaderName("Accept-Encoding")
    /// `Accept-Language`.
    public static let acceptLanguage = HTTPHeaderName("Accept-Language")
    /// `Accept-Ranges`.
    public static let acceptRanges = HTTPHeaderName("Accept-Ranges")
    /// `Age`.
    public static let age = HTTPHeaderName("Age")
    /// `Allow`.
    public static let allow = HTTPHeaderName("Allow")
    /// `Authorization`.
    public static let authorization = HTTPHeaderName("Authorization")
    /// `Cache-Control`.
    public static let cacheControl = HTTPHeaderName("Cache-Control")
    /// `Connection`.
    public static let connection = HTTPHeaderName("Connection")
    /// `Content-Disposition`.
    public static let contentDisposition = HTTPHeaderName("Content-Disposition")
    /// `Content-Encoding`.
    public static let contentEncoding = HTTPHeaderName("Content-Encoding")
    /// `Content-Language`.
    public static let contentLanguage = HTTPHeaderName("Content-Language")
    /// `Content-Length`.
    public static let contentLength = HTTPHeaderName("Content-Length")
    /// `Content-Location`.
    public static let contentLocation = HTTPHeaderName("Content-Location")
    /// `Content-Range`.
    public static let contentRange = HTTPHeaderName("Content-Range")
    /// `Content-Type`.
    public static let contentType = HTTPHeaderName("Content-Type")
    /// `Cookie`.
    public static let cookie = HTTPHeaderName("Cookie")
    /// `Date`.
    public static let date = HTTPHeaderName("Date")
    /// `ETag`.
    public static let eTag = HTTPHeaderName("ETag")
    /// `Expect`.
    public static let expect = HTTPHeaderName("Expect")
    /// `Expires`.
    public static let expires = HTTPHeaderName("Expires")
    /// `Host`.
    public static let host = HTTPHeaderName("Host")
    /// `Idempotency-Key`.
    public static let idempotencyKey = HTTPHeaderName("Idempotency-Key")
    /// `If-Match`.
    public static let ifMatch = HTTPHeaderName("If-Match")
    /// `If-Modified-Since`.
    public static let ifModifiedSince = HTTPHeaderName("If-Modified-Since")
    /// `If-None-Match`.
    public static let ifNoneMatch = HTTPHeaderName("If-None-Match")
    /// `Last-Event-ID`, of server-sent events.
    public static let lastEventID = HTTPHeaderName("Last-Event-ID")
    /// `If-Range`.
    public static let ifRange = HTTPHeaderName("If-Range")
    /// `If-Unmodified-Since`.
    public static let ifUnmodifiedSince = HTTPHeaderName("If-Unmodified-Since")
    /// `Last-Modified`.
    public static let lastModified = HTTPHeaderName("Last-Modified")
    /// `Link`.
    public static let link = HTTPHeaderName("Link")
    /// `Location`.
    public static let location = HTTPHeaderName("Location")
    /// `Origin`.
    public static let origin = HTTPHeaderName("Origin")
    /// `Prefer`.
    public static let prefer = HTTPHeaderName("Prefer")
    /// `Proxy-Authorization`.
    public static let proxyAuthorization = HTTPHeaderName("Proxy-Authorization")
    /// `Range`.
    public static let range = HTTPHeaderName("Range")
    /// `Referer`.
    public static let referer = HTTPHeaderName("Referer")
    /// `Retry-After`.
    public static let retryAfter = HTTPHeaderName("Retry-After")
    /// `Server`.
    public static let server = HTTPHeaderName("Server")
    /// `Set-Cookie`.
    public static let setCookie = HTTPHeaderName("Set-Cookie")
    /// `traceparent`.
    public static let traceparent = HTTPHeaderName("traceparent")
    /// `tracestate`.
    public static let tracestate = HTTPHeaderName("tracestate")
    /// `Transfer-Encoding`.
    public static let transferEncoding = HTTPHeaderName("Transfer-Encoding")
    /// `User-Agent`.
    public static let userAgent = HTTPHeaderName("User-Agent")
    /// `Vary`.
    public static let vary = HTTPHeaderName("Vary")
    /// `WWW-Authenticate`.
    public static let wwwAuthenticate = HTTPHeaderName("WWW-Authenticate")
    /// `X-Correlation-ID`.
    public static let xCorrelationID = HTTPHeaderName("X-Correlation-ID")
    /// `X-Request-ID`.
    public static let xRequestID = HTTPHeaderName("X-Request-ID")
}
