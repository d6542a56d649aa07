import Foundation

/// Follows redirects, hop by hop, the same way on every engine.
///
/// 301 and 302 turn a POST into a GET, 303 turns everything but HEAD into one, 307 and 308 keep method and body. Credentials
/// (`Authorization`, `Cookie`, `Proxy-Authorization`, fields marked sensitive) stay behind when scheme, host or port changes;
/// https never leads to http.
public struct RedirectFollowingTransport: Transport {
    private let base: any Transport
    private let policy: RedirectPolicy

    /// Wraps a transport.
    public init(_ base: any Transport, policy: RedirectPolicy = .standard) {
        self.base = base
        self.policy = policy
    }

    /// Sends the request and whatever the answers redirect to.
    ///
    /// - Throws: What the base throws, ``NetworkError/Kind/tooManyRedirects``, ``NetworkError/Kind/redirectRefused``.
    public func send(_ request: HTTPRequest, answering timing: AnswerTiming) async throws -> HTTPResponse {
        guard case .follow(let limit) = policy else { return try await base.send(request, answering: timing) }
        var response = try await base.send(request, answering: timing)
        var hops = 0
        while case .follow(let next) = try Redirect(response) {
            hops += 1
            guard hops <= limit else {
                throw NetworkError(
                    .tooManyRedirects, reason: "there were more than \(limit) redirects", request: response.request,
                    response: response)
            }
            response = try await base.send(next, answering: timing)
        }
        return response
    }
}
