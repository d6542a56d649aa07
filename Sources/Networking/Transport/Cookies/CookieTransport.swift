/// A transport that sends the cookies of a jar. A service adds it if ``NetworkConfiguration/cookies`` is set.
///
/// It is also called for redirects, so that each request has the cookies of its own URL. It does not change a `Cookie`
/// field that an endpoint or an adapter has set.
package struct CookieTransport: Transport {
    private let base: any Transport
    private let jar: CookieJar

    /// Whether the `Cookie` field of the request was set by this transport.
    private enum IsFromJar: HTTPRequest.Option {
        static let defaultValue = false
        static let isSensitive = true
    }

    /// Wraps a transport.
    package init(_ base: any Transport, jar: CookieJar) {
        self.base = base
        self.jar = jar
    }

    /// Sends the request with the jar's cookies.
    package func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        try await base.send(addingCookies(to: request), delivering: delivery)
    }

    func addingCookies(to request: HTTPRequest) -> HTTPRequest {
        let field = jar.field(for: request.url)
        let hasOld = request[option: IsFromJar.self]
        guard field != nil || hasOld else { return request }
        var request = request
        // A redirected request still has the field of the previous request.
        if hasOld { request.headers.remove(.cookie) }
        guard let field, !request.headers.contains(.cookie) else { return request }
        request.headers[.cookie] = field
        request[option: IsFromJar.self] = true
        return request
    }
}
