/// A transport that stores the cookies that responses set. It is below the cache, so that it receives every response of
/// the server exactly once. This includes a 304 that validates a stored response, and an error for which the cache
/// returns a stored response.
package struct SetCookieTransport: Transport {
    private let base: any Transport
    private let jar: CookieJar

    /// Wraps a transport.
    package init(_ base: any Transport, jar: CookieJar) {
        self.base = base
        self.jar = jar
    }

    /// Sends the request, and stores the cookies of the response.
    package func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        let response = try await base.send(request, delivering: delivery)
        guard response.headers.contains(.setCookie) else { return response }
        jar.keep(response.headers, from: response.request.url)
        return response
    }
}
