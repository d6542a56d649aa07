import Foundation

/// The values of an endpoint and its environment. An endpoint may compute these values, so a call reads them only once.
/// The call keeps them as a part of its request.
struct ResolvedEndpoint: HTTPRequest.Part {
    let authorizationType: AuthorizationType
    /// The origin of the environment; the origin of the endpoint if the environment has none.
    let home: HTTPOrigin?
    /// The path of the endpoint; nil if a handler has created the request.
    let path: EndpointPath?
    /// The environment's query.
    let query: URLQuery
    /// The query of the environment's base URL.
    var baseQuery = ""
    /// The number of the attempt, beginning with 1.
    fileprivate(set) var attempt = 1

    /// The environment's query items, decoded.
    var queryItems: Set<String> {
        Set("\(query.percentEncoded)&\(baseQuery)".split(separator: "&").map { PercentEncoding.decode($0) })
    }

    /// This part stays in a request that goes to another origin, because the home of the call does not change.
    var outsideOrigin: ResolvedEndpoint? { self }
    var outsideCall: ResolvedEndpoint? { nil }
    /// Empty, because the request itself contains the endpoint's values.
    var identity: [String] { [] }
}

extension HTTPRequest {
    private func endpoint<Value>(_ read: (ResolvedEndpoint) -> Value?) -> Value? {
        parts.read(ResolvedEndpoint.self, read)
    }

    /// Whether the request goes to an origin that is not the origin of the service's environment, for example because
    /// the endpoint has its own base URL. Tokens and the environment's query and fields are not sent to such an origin.
    /// Adapters should not add secrets to such a request, either.
    public var isForeign: Bool { endpoint { $0.home != origin } ?? false }

    /// The origin of the service's environment; the request's own origin if there is none.
    var home: HTTPOrigin? { endpoint { $0.home } ?? origin }

    /// The path of the endpoint; nil if the request was not created from an endpoint.
    var endpointPath: EndpointPath? { endpoint { $0.path } }

    /// Whether the request was created by hand and not from an endpoint.
    var isUnresolved: Bool { endpoint { _ in true } == nil }

    /// The number of the attempt that sends the request, beginning with 1. Adapters use it, for example to send the
    /// number to the server. It is 1 for a request that belongs to no call.
    public var attempt: Int { endpoint { $0.attempt } ?? 1 }

    /// Sets the number of the attempt.
    mutating func number(attempt: Int) {
        guard attempt > 1 else { return }  // the first attempt needs no change
        parts[ResolvedEndpoint.self]?.attempt = attempt
    }

    /// How the call is authorized.
    func authorizationType(of endpoint: any Endpoint) -> AuthorizationType {
        self.endpoint { $0.authorizationType } ?? endpoint.authorizationType
    }

    /// Returns the request of an endpoint with another URL, without the values that must not be sent to that URL's
    /// origin.
    ///
    /// - Throws: ``NetworkError/Kind/invalidRequest`` if the URL leads from https to http.
    func moved(to url: URL) throws -> HTTPRequest {
        try NetworkError.require(
            origin?.scheme != "https" || url.scheme?.lowercased() == "https",
            "URL: expected the scheme https, as in the endpoint's URL; the new URL has \(url.scheme ?? "no scheme")")
        var request = self
        request.url = url
        return request.moved(from: [self])
    }

    /// Completes this request, which an adapter has returned. A request that the adapter has created gets the parts of
    /// the call's request. If the origin has changed, the values for the old origin are removed.
    ///
    /// - Parameter before: The request that the adapter received.
    func adapted(from before: HTTPRequest) -> HTTPRequest {
        (parts.share(ResolvedEndpoint.self, with: before.parts) ? self : inCall(of: before)).moved(from: [before])
    }

    /// Prepares this request, which a handler has returned, as the request with which the call continues. Adds the
    /// parts of the call, and removes values that must not be sent to the request's origin.
    ///
    /// - Parameters:
    ///   - original: The request that the call has used until now.
    ///   - sent: The requests that the call has sent. The handler may also have made its request from one of these.
    func continuing(_ original: HTTPRequest, sent: [HTTPRequest]) -> HTTPRequest {
        var request = inCall(of: original).moved(from: [original] + sent)
        request.removeFieldsOfOthers()
        return request
    }

    /// Removes the fields that a session added, such as the token. If the request is foreign, also removes the fields
    /// that the environment added. A handler may have returned a request that it kept from another call. If the token
    /// may be sent to the origin, the token's adapter adds the token again.
    private mutating func removeFieldsOfOthers() {
        let isForeign = isForeign
        headers.removeAll { $0.isFromSession || isForeign && $0.isFromEnvironment }
    }

    /// Prepares this request, which a handler has returned, as the first request of a call whose own request could not
    /// be created.
    func beginning(as type: AuthorizationType, from home: HTTPOrigin?) -> HTTPRequest {
        var request = leavingCall()
        request.parts[ResolvedEndpoint.self] = ResolvedEndpoint(
            authorizationType: type == .inherited ? .none : type, home: home ?? origin, path: nil, query: [:])
        request.removeFieldsOfOthers()
        return request
    }

    /// Returns the request without the secrets of earlier requests to other origins. Outside the environment's origin,
    /// these secrets include the environment's query, and the user and password of its base URL.
    private func moved(from earlier: [HTTPRequest]) -> HTTPRequest {
        let others = earlier.filter { $0.origin != origin }.map(\.url)
        // If a server has chosen an earlier request to the same origin, it has also chosen this request.
        var request = self
        request.isElsewhere = earlier.contains { $0.isElsewhere && $0.origin == origin }
        guard !others.isEmpty else { return request }
        // Values that an earlier request has already sent to this origin were set by the endpoint.
        let own = earlier.filter { $0.origin == origin }.map(\.url)
        request = request.leavingOrigin(of: earlier)
        if url.user(percentEncoded: true) != nil, others.contains(where: { url.hasSameUser(as: $0) }),
            !own.contains(where: { url.hasSameUser(as: $0) })
        {
            request.url = request.url.withoutUser
        }
        if isForeign, let items = endpoint({ $0.queryItems.subtracting(own.flatMap(\.queryItems)) }), !items.isEmpty {
            request.url = request.url.removing(items)
        }
        return request
    }
}

extension URL {
    fileprivate var queryItems: [String] {
        (query(percentEncoded: true) ?? "").split(separator: "&").map { PercentEncoding.decode($0) }
    }

    fileprivate func hasSameUser(as other: URL) -> Bool { user == other.user && password == other.password }

    fileprivate func removing(_ items: Set<String>) -> URL {
        guard let own = self.query(percentEncoded: true) else { return self }
        let left = own.split(separator: "&").filter { !items.contains(PercentEncoding.decode($0)) }
        return changed { $0.percentEncodedQuery = left.isEmpty ? nil : left.joined(separator: "&") }
    }

    fileprivate var withoutUser: URL { changed { ($0.user, $0.password) = (nil, nil) } }

    private func changed(_ change: (inout URLComponents) -> Void) -> URL {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        change(&components)
        return components.url ?? self
    }
}
