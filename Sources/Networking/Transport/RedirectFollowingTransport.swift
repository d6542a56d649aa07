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
        let response = try await base.send(request, answering: timing)
        guard let next = try next(after: response, hops: 0) else { return response }
        return try await follow(next, timing)
    }

    private func follow(_ first: HTTPRequest, _ timing: AnswerTiming) async throws -> HTTPResponse {
        var request = first
        var hops = 0
        while true {
            let response = try await base.send(request, answering: timing)
            hops += 1
            guard let next = try next(after: response, hops: hops) else { return response }
            request = next
        }
    }

    /// What to send in place of a response; nil where that is the answer.
    ///
    /// Not inlined: what is big must not become part of the functions that wait, whose memory each waiting call keeps.
    @inline(never)
    private func next(after response: HTTPResponse, hops: Int) throws -> HTTPRequest? {
        guard case .follow(let limit) = policy, case .follow(let next) = try Redirect(response) else { return nil }
        guard hops < limit else {
            throw NetworkError(
                .tooManyRedirects, reason: "there were more than \(limit) redirects", request: response.request,
                response: response)
        }
        return next
    }
}
