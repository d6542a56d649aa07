import Foundation

/// A transport that follows redirects in the same way on every engine.
///
/// A 301 or 302 changes POST to GET, a 303 changes every method except HEAD to GET, and a 307 or 308 preserves method
/// and body. If scheme, host or port changes, the next request contains only fields that are known to be harmless, and
/// `Idempotency-Key`, `Prefer`, `Last-Event-ID` and `X-HTTP-Method-Override`. A redirect from https to http is refused.
package struct RedirectFollowingTransport: Transport {
    private let base: any Transport
    private let policy: RedirectPolicy

    /// Wraps a transport.
    package init(_ base: any Transport, policy: RedirectPolicy = .standard) {
        self.base = base
        self.policy = policy
    }

    /// Sends the request, and the requests that the responses redirect to.
    ///
    /// - Throws: The errors of the base transport, ``NetworkError/Kind/tooManyRedirects``,
    ///   ``NetworkError/Kind/redirectRefused``.
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

    /// Returns the request that follows a redirect; nil if the response is the response of the call.
    ///
    /// Not inlined, because large locals would become part of the async function that waits, and every waiting call
    /// retains the frame of that function.
    @inline(never)
    private func next(after response: HTTPResponse, hops: Int) throws -> HTTPRequest? {
        guard case .follow(let limit) = policy, case .follow(let next) = try Redirect(response) else { return nil }
        guard hops < limit else {
            throw NetworkError(
                .tooManyRedirects, reason: "there were more than \(limit) redirects", request: response.request,
                response: response)
        }
        response.request.parts.transfer?.report(.redirected(response.withoutStream, to: next))
        return next
    }
}
