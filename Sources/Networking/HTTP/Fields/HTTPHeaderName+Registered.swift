/// The names of the [IANA registry of header fields](https://www.iana.org/assignments/http-fields) that clients meet.
extension HTTPHeaderName {
    /// `Accept`.
    public static let accept = HTTPHeaderName("Accept")
    /// `Accept-Charset`.
    public static let acceptCharset = HTTPHeaderName("Accept-Charset")
    /// `Accept-Datetime`.
    public static let acceptDatetime = HTTPHeaderName("Accept-Datetime")
    /// `Accept-Encoding`.
    public static let acceptEncoding = HTTPHeaderName("Accept-Encoding")
    /// `Accept-Language`.
    public static let acceptLanguage = HTTPHeaderName("Accept-Language")
    /// `Accept-Ranges`.
    public static let acceptRanges = HTTPHeaderName("Accept-Ranges")
    /// `Access-Control-Allow-Origin`.
    public static let accessControlAllowOrigin = HTTPHeaderName("Access-Control-Allow-Origin")
    /// `Access-Control-Request-Headers`.
    public static let accessControlRequestHeaders = HTTPHeaderName("Access-Control-Request-Headers")
    /// `Access-Control-Request-Method`.
    public static let accessControlRequestMethod = HTTPHeaderName("Access-Control-Request-Method")
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
    /// `Content-MD5`.
    public static let contentMD5 = HTTPHeaderName("Content-MD5")
    /// `Content-Range`.
    public static let contentRange = HTTPHeaderName("Content-Range")
    /// `Content-Security-Policy`.
    public static let contentSecurityPolicy = HTTPHeaderName("Content-Security-Policy")
    /// `Content-Type`.
    public static let contentType = HTTPHeaderName("Content-Type")
    /// `Cookie`.
    public static let cookie = HTTPHeaderName("Cookie")
    /// `Date`.
    public static let date = HTTPHeaderName("Date")
    /// `DNT`.
    public static let doNotTrack = HTTPHeaderName("DNT")
    /// `ETag`.
    public static let eTag = HTTPHeaderName("ETag")
    /// `Expect`.
    public static let expect = HTTPHeaderName("Expect")
    /// `Expires`.
    public static let expires = HTTPHeaderName("Expires")
    /// `Forwarded`.
    public static let forwarded = HTTPHeaderName("Forwarded")
    /// `From`.
    public static let from = HTTPHeaderName("From")
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
    /// `Keep-Alive`.
    public static let keepAlive = HTTPHeaderName("Keep-Alive")
    /// `Last-Modified`.
    public static let lastModified = HTTPHeaderName("Last-Modified")
    /// `Link`.
    public static let link = HTTPHeaderName("Link")
    /// `Location`.
    public static let location = HTTPHeaderName("Location")
    /// `Max-Forwards`.
    public static let maxForwards = HTTPHeaderName("Max-Forwards")
    /// `Origin`.
    public static let origin = HTTPHeaderName("Origin")
    /// `Pragma`.
    public static let pragma = HTTPHeaderName("Pragma")
    /// `Prefer`.
    public static let prefer = HTTPHeaderName("Prefer")
    /// `Proxy-Authenticate`.
    public static let proxyAuthenticate = HTTPHeaderName("Proxy-Authenticate")
    /// `Proxy-Authorization`.
    public static let proxyAuthorization = HTTPHeaderName("Proxy-Authorization")
    /// `Range`.
    public static let range = HTTPHeaderName("Range")
    /// `RateLimit`.
    public static let rateLimit = HTTPHeaderName("RateLimit")
    /// `RateLimit-Policy`.
    public static let rateLimitPolicy = HTTPHeaderName("RateLimit-Policy")
    /// `Referer`.
    public static let referer = HTTPHeaderName("Referer")
    /// `Retry-After`.
    public static let retryAfter = HTTPHeaderName("Retry-After")
    /// `Server`.
    public static let server = HTTPHeaderName("Server")
    /// `Set-Cookie`.
    public static let setCookie = HTTPHeaderName("Set-Cookie")
    /// `Strict-Transport-Security`.
    public static let strictTransportSecurity = HTTPHeaderName("Strict-Transport-Security")
    /// `TE`.
    public static let te = HTTPHeaderName("TE")
    /// `traceparent`.
    public static let traceparent = HTTPHeaderName("traceparent")
    /// `tracestate`.
    public static let tracestate = HTTPHeaderName("tracestate")
    /// `Trailer`.
    public static let trailer = HTTPHeaderName("Trailer")
    /// `Transfer-Encoding`.
    public static let transferEncoding = HTTPHeaderName("Transfer-Encoding")
    /// `Upgrade`.
    public static let upgrade = HTTPHeaderName("Upgrade")
    /// `Upgrade-Insecure-Requests`.
    public static let upgradeInsecureRequests = HTTPHeaderName("Upgrade-Insecure-Requests")
    /// `User-Agent`.
    public static let userAgent = HTTPHeaderName("User-Agent")
    /// `Vary`.
    public static let vary = HTTPHeaderName("Vary")
    /// `Via`.
    public static let via = HTTPHeaderName("Via")
    /// `Warning`.
    public static let warning = HTTPHeaderName("Warning")
    /// `WWW-Authenticate`.
    public static let wwwAuthenticate = HTTPHeaderName("WWW-Authenticate")
    /// `X-Csrf-Token`.
    public static let xCSRFToken = HTTPHeaderName("X-Csrf-Token")
    /// `X-Correlation-ID`.
    public static let xCorrelationID = HTTPHeaderName("X-Correlation-ID")
    /// `X-Forwarded-For`.
    public static let xForwardedFor = HTTPHeaderName("X-Forwarded-For")
    /// `X-Forwarded-Host`.
    public static let xForwardedHost = HTTPHeaderName("X-Forwarded-Host")
    /// `X-Forwarded-Proto`.
    public static let xForwardedProto = HTTPHeaderName("X-Forwarded-Proto")
    /// `X-Http-Method-Override`.
    public static let xHTTPMethodOverride = HTTPHeaderName("X-Http-Method-Override")
    /// `X-Request-ID`.
    public static let xRequestID = HTTPHeaderName("X-Request-ID")
    /// `X-Requested-With`.
    public static let xRequestedWith = HTTPHeaderName("X-Requested-With")
}
