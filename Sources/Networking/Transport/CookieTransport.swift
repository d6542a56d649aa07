/// Sends the cookies of a jar, and puts into it what answers set: right over redirects, since each hop passes through it.
///
/// A service puts it in its place with `cookies:`, between the redirects and the engine. A `Cookie` field that somebody set is left alone.
public struct CookieTransport: Transport {
    private let base: any Transport
    private let jar: CookieJar

    /// The field came out of the jar, and not from the user.
    private enum IsFromJar: RequestOption {
        static let defaultOption = false
        static let isSensitive = true
    }

    /// Wraps a transport.
    public init(_ base: any Transport, jar: CookieJar) {
        self.base = base
        self.jar = jar
    }

    /// Sends the request with the jar's cookies.
    public func send(_ request: HTTPRequest, answering timing: AnswerTiming) async throws -> HTTPResponse {
        let response = try await base.send(dressed(request), answering: timing)
        guard response.headers.contains(.setCookie) else { return response }
        jar.keep(response.headers, from: response.request.url)
        return response
    }

    func dressed(_ request: HTTPRequest) -> HTTPRequest {
        let field = jar.field(for: request.url)
        let hasOld = request[option: IsFromJar.self]
        guard field != nil || hasOld else { return request }
        var request = request
        // A redirect brings the field of the hop before along.
        if hasOld { request.headers.remove(.cookie) }
        guard let field, !request.headers.contains(.cookie) else { return request }
        request.headers[.cookie] = field
        request[option: IsFromJar.self] = true
        return request
    }
}
