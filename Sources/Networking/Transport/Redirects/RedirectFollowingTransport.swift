import Foundation

/// A transport that follows redirects in the same way on every engine.
///
/// A 301 or 302 changes POST to GET, a 303 changes every method except HEAD to GET, and a 307 or 308 preserves method
/// and body. If scheme, host or port changes, the next request contains only fields that are known to be harmless, and
/// fields without which the request would have another meaning. Examples of the second kind are `Idempotency-Key`,
/// `Prefer` and `Upload-Checksum`. A redirect from https to http is refused.
struct RedirectFollowingTransport: Transport {
    let base: any Transport
    var policy = RedirectPolicy.standard

    /// Sends the request, and the requests that the responses redirect to.
    ///
    /// - Throws: The errors of the base transport, ``NetworkError/Kind/tooManyRedirects``,
    ///   ``NetworkError/Kind/redirectRefused``.
    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        let response: HTTPResponse
        do { response = try await base.send(request, delivering: delivery) } catch {
            response = try received(before: error, for: request)
        }
        guard let next = try next(after: response, hops: 0) else { return response }
        return try await follow(next, from: response, delivery)
    }

    private func follow(
        _ first: HTTPRequest, from redirect: HTTPResponse, _ delivery: BodyDelivery
    ) async throws -> HTTPResponse {
        var request = first
        var redirects = [redirect.followed]
        let home = redirect.request.origin
        request.isElsewhere = redirect.request.isElsewhere
        do {
            while true {
                // The mark stays, even if a later redirect leads back to the first origin.
                if request.origin != home { request.isElsewhere = true }
                let response: HTTPResponse
                do { response = try await base.send(request, delivering: delivery) } catch {
                    response = try received(before: error, for: request)
                }
                guard let next = try next(after: response, hops: redirects.count) else {
                    return response.reached(by: redirects)
                }
                redirects.append(response.followed)
                let isElsewhere = request.isElsewhere
                request = next
                request.isElsewhere = isElsewhere
            }
        } catch {
            throw failed(error, after: redirects)
        }
    }

    /// Returns the response whose body the error has cut off, if the response decides the outcome even without its
    /// complete body. This is the case if the call follows the response as a redirect, or rejects the response. (If the
    /// call rejects a response, the library's engines return the response instead of an error.)
    ///
    /// - Throws: The error, if the response does not decide the outcome; ``NetworkError/Kind/redirectRefused``.
    @inline(never)
    private func received(before error: any Error, for request: HTTPRequest) throws -> HTTPResponse {
        guard let known = error as? NetworkError, known.isLossOfBody, let response = known.response else { throw error }
        let context = request.parts.transfer
        if context?.rejects(response) != true {
            let policy = policy(of: request)
            guard policy.follows, let target = try Redirect.request(after: response),
                try policy.next(target, after: response) != nil
            else { throw error }
        }
        return response.cutOff(by: known, keeping: context?.maximumRejectedSize ?? RejectedBody.maximumSize)
    }

    /// The policy of the call, or else of the service.
    private func policy(of request: HTTPRequest) -> RedirectPolicy { request.parts.redirects.policy ?? policy }

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
        let policy = policy(of: response.request)
        guard policy.follows, let target = try Redirect.request(after: response),
            let next = try policy.next(target, after: response)
        else { return nil }
        guard hops < policy.limit else {
            throw NetworkError(
                .tooManyRedirects, reason: "there were more than \(policy.limit) redirects",
                request: response.request, response: response)
        }
        response.request.parts.transfer?.report(.redirected(response.followed, to: next))
        return next
    }
}

extension HTTPResponse {
    /// The response without its body, which is not needed after the redirect has been followed.
    fileprivate var followed: HTTPResponse {
        var response = withoutStream
        if case .data = content { response.content = .data(Data()) }
        return response
    }
}

/// The rules for the request that follows a redirect.
enum Redirect {
    /// Returns the request that a response redirects to; nil if the response is not a redirect, and is therefore the
    /// response of the call.
    ///
    /// - Throws: ``NetworkError/Kind/redirectRefused`` with the reason.
    static func request(after response: HTTPResponse) throws -> HTTPRequest? {
        guard let location = response.status.location(in: response.headers) else { return nil }
        let request = response.request
        let locations = Set(response.headers.values(for: .location))
        guard locations.count == 1 else {
            throw refusal("expected one Location, found \(locations.count) different ones", response)
        }
        var next = request
        do throws(TargetFault) { next.url = try target(location, of: response) } catch {
            throw refusal("its Location \(error.reason)", response)
        }
        if becomesGet(request.method, response.status) {
            next.method = .get
            next.body = .empty
            next.headers.removeAll { contentFields.contains($0.name) }
        }
        next = next.leavingOrigin(of: request)
        try check(next, after: response)
        return next
    }

    /// Returns `next` with the fields of `request` that describe the body. They were removed when the request became a
    /// GET.
    static func describingBody(_ next: HTTPRequest, of request: HTTPRequest) -> HTTPRequest {
        var next = next
        for field in request.headers where contentFields.contains(field.name) && !next.headers.contains(field.name) {
            next.headers.append(field)
        }
        return next
    }

    /// Throws an error if the redirect cannot be followed. Either the body was sent and cannot be read again, or the
    /// next request has lost the condition of a write.
    static func check(_ next: HTTPRequest, after response: HTTPResponse) throws {
        guard next.body.isReplayable else {
            throw refusal("the body cannot be sent a second time", response)
        }
        // Without its condition, the request could overwrite the changes of another user.
        let conditions = response.request.headers.filter { HTTPHeader.Name.conditions.contains($0.name) }
        let isElsewhere = next.origin != response.request.origin
        if !next.method.isSafe, let lost = conditions.first(where: { isElsewhere || !next.headers.contains($0.name) }) {
            let reason =
                "\(lost.name) "
                + (isElsewhere
                    ? "must not be sent to another origin"
                    : "is the condition of a write, and the redirected request would not contain it")
            throw refusal(reason, response)
        }
    }

    /// The fields that describe the content of a request, or depend on its method.
    static let contentFields = Set<HTTPHeader.Name>(
        [
            .contentType, .contentEncoding, .contentLanguage, .contentLocation, "Content-MD5", "Digest",
            "Content-Digest", .range, .ifRange,
        ] + HTTPHeader.Name.conditions)

    private static func becomesGet(_ method: HTTPMethod, _ status: HTTPStatus) -> Bool {
        switch status {
        case .seeOther: method != .get && method != .head
        case .movedPermanently, .found: method == .post
        default: false
        }
    }

    /// The length of the longest URL that is followed, in bytes. Most servers accept 8 KiB, but some log-ins need more.
    private static let longestTarget = 64 << 10

    /// Why a `Location` cannot be used.
    struct TargetFault: Error {
        let reason: String
    }

    /// Returns the URL that the `Location` of a response names.
    static func target(_ location: String, of response: HTTPResponse) throws(TargetFault) -> URL {
        // With relative paths, a server could make the URL longer with each redirect, and each attempt keeps its URL in
        // memory.
        guard location.utf8.count <= longestTarget else {
            throw TargetFault(reason: "has more than \(longestTarget) bytes")
        }
        guard let target = URL(reference: location, relativeTo: response.request.url),
            let scheme = target.scheme?.lowercased()
        else { throw TargetFault(reason: "is not a URL") }
        guard scheme == "http" || scheme == "https" else {
            throw TargetFault(reason: "has the scheme \"\(scheme)\", not http or https")
        }
        guard let host = target.host, !host.isEmpty else { throw TargetFault(reason: "has no host") }
        if let fault = URLAuthority(target).fault { throw TargetFault(reason: "is not a URL: \(fault)") }
        guard target.absoluteString.utf8.count <= longestTarget else {
            throw TargetFault(reason: "leads to a URL of more than \(longestTarget) bytes")
        }
        guard scheme == "https" || response.request.url.scheme?.lowercased() != "https" else {
            throw TargetFault(reason: "changes the scheme from https to http")
        }
        guard let url = response.request.withoutForeignUser(target) else {
            throw TargetFault(reason: "contains a user and cannot be parsed")
        }
        return inheritingFragment(url, from: response.request.url)
    }

    /// Returns the target with the fragment of the request if the target has none (RFC 9110 section 10.2.2).
    private static func inheritingFragment(_ target: URL, from source: URL) -> URL {
        guard target.fragment == nil, let fragment = source.fragment,
            var components = URLComponents(url: target, resolvingAgainstBaseURL: true)
        else { return target }
        components.percentEncodedFragment = fragment
        return components.url ?? target
    }

    static func refusal(_ reason: String, _ response: HTTPResponse) -> NetworkError {
        NetworkError(
            .redirectRefused, reason: "the redirect (\(response.status)) was not followed: \(reason)",
            request: response.request, response: response)
    }
}
