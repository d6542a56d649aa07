import Foundation

/// The next step after a response.
enum Redirect {
    /// The response is not a redirect: it is the response of the call.
    case none
    /// The response is a redirect: this request is sent next.
    case follow(HTTPRequest)

    private static let statuses: Set<HTTPStatus> = [
        .movedPermanently, .found, .seeOther, .temporaryRedirect, .permanentRedirect,
    ]

    /// - Throws: ``NetworkError/Kind/redirectRefused`` with the reason.
    init(_ response: HTTPResponse) throws {
        let request = response.request
        // Most responses are no redirects, and the first comparison is faster than a lookup in a set.
        guard response.status.isRedirection, Redirect.statuses.contains(response.status),
            let location = response.headers.values(for: .location).first, !location.isEmpty
        else {
            self = .none
            return
        }
        let locations = Set(response.headers.values(for: .location))
        guard locations.count == 1 else {
            throw Redirect.refusal("expected one Location, found \(locations.count) different ones", response)
        }
        let target = try Redirect.target(location, of: response)
        var next = request
        next.url = target
        if Redirect.becomesGet(request.method, response.status) {
            next.method = .get
            next.body = .empty
            next.headers.removeAll { Redirect.contentFields.contains($0.name) }
        } else if !request.body.isReplayable {
            throw Redirect.refusal("the body cannot be sent a second time", response)
        }
        self = .follow(next.leavingOrigin(of: request))
    }

    private static let contentFields: Set<HTTPHeader.Name> = [
        .contentType, .contentEncoding, .contentLanguage, .contentLocation, "Content-MD5", "Digest", "Content-Digest",
        .range, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange,
    ]

    private static func becomesGet(_ method: HTTPMethod, _ status: HTTPStatus) -> Bool {
        switch status {
        case .seeOther: method != .get && method != .head
        case .movedPermanently, .found: method == .post
        default: false
        }
    }

    private static func target(_ location: String, of response: HTTPResponse) throws -> URL {
        guard let target = URL(string: location, relativeTo: response.request.url)?.absoluteURL,
            let scheme = target.scheme?.lowercased()
        else { throw refusal("its Location is not a URL", response) }
        guard scheme == "http" || scheme == "https" else {
            throw refusal("its Location has the scheme \"\(scheme)\", not http or https", response)
        }
        guard let host = target.host, !host.isEmpty else { throw refusal("its Location has no host", response) }
        guard scheme == "https" || response.request.url.scheme?.lowercased() != "https" else {
            throw refusal("its Location leads from https to http", response)
        }
        return inheritingFragment(target, from: response.request.url)
    }

    /// Returns the target with the fragment of the request if the target has none (RFC 9110 section 10.2.2).
    private static func inheritingFragment(_ target: URL, from source: URL) -> URL {
        guard target.fragment == nil, let fragment = source.fragment,
            var components = URLComponents(url: target, resolvingAgainstBaseURL: true)
        else { return target }
        components.percentEncodedFragment = fragment
        return components.url ?? target
    }

    private static func refusal(_ reason: String, _ response: HTTPResponse) -> NetworkError {
        NetworkError(
            .redirectRefused, reason: "the redirect (\(response.status)) was not followed: \(reason)",
            request: response.request, response: response)
    }
}
