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
        let field = field(for: request.url)
        let hasOld = request.parts[CookieMark.self] != nil
        guard field != nil || hasOld else { return request }
        var request = request
        // A redirected request still has the field of the previous request.
        if hasOld { request.headers.remove(.cookie) }
        guard let field, !request.headers.contains(.cookie) else { return request }
        request.headers[.cookie] = field
        request.parts[CookieMark.self] = CookieMark()
        return request
    }
}

/// The mark of a request whose `Cookie` field comes from the jar. It is the part of a request that belongs to the
/// cookies.
struct CookieMark: HTTPRequest.Part {
    /// Nothing: the field stays at its origin, too.
    var outsideOrigin: CookieMark? { nil }
    var outsideCall: CookieMark? { nil }
    /// The field itself is compared.
    var identity: [String] { [] }
}

/// A transport that stores the cookies that responses set. It is below the cache, so that it receives every response of
/// the server exactly once. This includes a 304 that validates a stored response, and an error for which the cache
/// returns a stored response.
struct SetCookieTransport: Transport {
    let base: any Transport
    let jar: CookieJar

    /// Sends the request, and stores the cookies of the response, also if its body is lost.
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
        jar.keep(response.headers, from: response.request.url)
    }
}
