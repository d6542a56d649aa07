import Foundation

/// Follows redirects, hop by hop, the same way on every engine.
///
/// 301 and 302 turn a POST into a GET, 303 turns everything but HEAD into one, 307 and 308 keep method and body. When
/// scheme, host or port changes, only fields that are known to be harmless are kept, and `Idempotency-Key`, `Prefer`,
/// `Last-Event-ID` and `X-HTTP-Method-Override`; https never leads to http.
package struct RedirectFollowingTransport: Transport {
    private let base: any Transport
    private let policy: RedirectPolicy

    /// Wraps a transport.
    package init(_ base: any Transport, policy: RedirectPolicy = .standard) {
        self.base = base
        self.policy = policy
    }

    /// Sends the request and whatever the responses redirect to.
    ///
    /// - Throws: What the base throws, ``NetworkError/Kind/tooManyRedirects``, ``NetworkError/Kind/redirectRefused``.
    package func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        let response = try await base.send(request, delivering: delivery)
        guard let next = try next(after: response, hops: 0) else { return response }
        return try await follow(next, from: response, delivery)
    }

    private func follow(
        _ first: HTTPRequest, from redirect: HTTPResponse, _ delivery: BodyDelivery
    ) async throws -> HTTPResponse {
        var request = first
        var redirects = [redirect.withoutStream]
        do {
            while true {
                let response = try await base.send(request, delivering: delivery)
                guard let next = try next(after: response, hops: redirects.count) else {
                    return response.reached(by: redirects)
                }
                redirects.append(response.withoutStream)
                request = next
            }
        } catch {
            throw failed(error, after: redirects)
        }
    }

    @inline(never)
    private func failed(_ error: any Error, after redirects: [HTTPResponse]) -> any Error {
        guard var error = error as? NetworkError else { return error }
        error.redirects = redirects
        return error
    }

    /// What to send in place of a response; nil if that is the response.
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
        response.request[option: RequestWatch.self]?.tell(.redirected(response.withoutStream, to: next))
        return next
    }
}

/// Which redirects are followed, [RFC 9110 section 15.4](https://www.rfc-editor.org/rfc/rfc9110#section-15.4).
public enum RedirectPolicy: Hashable, Sendable {
    /// Up to so many, one after another.
    case follow(limit: Int)
    /// None: the 3xx is the response.
    case ignore

    /// Up to 20.
    public static let standard = RedirectPolicy.follow(limit: 20)
}
