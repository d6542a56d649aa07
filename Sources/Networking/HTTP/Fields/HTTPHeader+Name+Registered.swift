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
    /// `Prefer`.
    static let prefer = HTTPHeader.Name("Prefer")
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
    /// `X-Correlation-ID`.
    static let xCorrelationID = HTTPHeader.Name("X-Correlation-ID")
    /// `X-Request-ID`.
    public static let xRequestID = HTTPHeader.Name("X-Request-ID")
}
