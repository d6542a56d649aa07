/// A transport that sends the cookies of a jar. A service adds it if ``NetworkConfiguration/cookies`` is set.
///
/// It is also called for redirects, so that each request has the cookies of its own URL. It does not change a `Cookie`
/// field that an endpoint or an adapter has set.
struct CookieTransport: Transport {
    let base: any Transport
    let jar: CookieJar

    /// Sends the request with the jar's cookies.
    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        try await base.send(jar.addingCookies(to: request), delivering: delivery)
    }
}

extension CookieJar {
    /// Returns the request with the cookies for its URL, in place of the cookies of an earlier URL.
    func addingCookies(to request: HTTPRequest) -> HTTPRequest {
        var mark = request.parts[CookieMark.self] ?? CookieMark(home: request.origin)
        var request = request
        // A redirected request still has the field of the previous request.
        if mark.hasField { request.headers.remove(.cookie) }
        let field = request.headers.contains(.cookie) ? nil : field(for: request.url)
        if let field { request.headers[.cookie] = field }
        mark.hasField = field != nil
        request.parts[CookieMark.self] = mark
        return request
    }
}

/// The part of a request that states whether its `Cookie` field comes from the jar, and at which origin its redirects
/// began.
struct CookieMark: HTTPRequest.Part {
    /// The origin of the first request.
    let home: HTTPOrigin?
    var hasField = false

    /// After a redirect to another origin, only the origin of the first request remains. The `Cookie` field is not sent
    /// to the other origin.
    var outsideOrigin: CookieMark? { CookieMark(home: home) }
    /// A background validation keeps the origin of the first request, because the validation may be sent to a server to
    /// which another server has redirected.
    var outsideCall: CookieMark? { CookieMark(home: home) }
    /// No values, because the `Cookie` field itself is compared.
    var identity: [String] { [] }
}

/// A transport that stores the cookies that responses set. It is below the cache, so that it receives every response of
/// the server exactly once. This includes a 304 that validates a stored response, and an error status that the cache
/// replaces with a stored response.
struct SetCookieTransport: Transport {
    let base: any Transport
    let jar: CookieJar

    /// Sends the request, and stores the cookies of the response even if the body of the response is lost.
    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        do {
            let response = try await base.send(request, delivering: delivery)
            keepCookies(of: response)
            return response
        } catch {
            if let response = (error as? NetworkError)?.response { keepCookies(of: response) }
            throw error
        }
    }

    private func keepCookies(of response: HTTPResponse) {
        guard response.headers.contains(.setCookie) else { return }
        let request = response.request
        let home = request.parts[CookieMark.self]?.home
        jar.keep(response.headers, from: request.url, isForeign: home != nil && home != request.origin)
    }
}
