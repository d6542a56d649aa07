import Foundation

/// A factory for the request of an endpoint in an environment.
struct EndpointRequest {
    let endpoint: any Endpoint
    private let method: HTTPMethod
    private let environment: CopyOnWrite<NetworkEnvironment>

    /// - Parameter method: The endpoint's method, if it was read already.
    init(endpoint: any Endpoint, method: HTTPMethod? = nil, environment: CopyOnWrite<NetworkEnvironment>) {
        self.endpoint = endpoint
        self.method = method ?? endpoint.method
        self.environment = environment
    }

    /// Creates the request that the adapters change: forms the URL, merges the header fields, encodes the body.
    ///
    /// - Parameter settings: The settings of the call, which include those of the endpoint.
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest`` or
    ///   ``NetworkError/Kind/bodyNotEncodable``.
    func make(_ settings: RequestSettings, random: RandomSource = .system) throws -> HTTPRequest {
        do { return try request(settings, random) } catch let error as NetworkError where error.request == nil {
            // The error has no request, so the reason names the endpoint's type, its method and its URL template.
            var error = error
            error.reason = error.reason.map {
                "\($0) (\(type(of: endpoint)), \(method) \(endpoint.urlTemplate))"
            }
            throw error
        }
    }

    private func request(_ settings: RequestSettings, _ random: RandomSource) throws -> HTTPRequest {
        let server = try server()
        let parameters = endpoint.parameters
        var request = HTTPRequest(
            method, try url(at: server, parameters.query(method)), of: server.address.origin,
            timeouts: settings.timeouts)
        request.headers =
            environment.value.headers.isEmpty ? endpoint.headers : environmentHeaders(server).merging(endpoint.headers)
        request.options = settings.options
        request.networkAccess = settings.networkAccess
        request.parts = settings.orders
        request.parts[ResolvedEndpoint.self] = ResolvedEndpoint(
            authorizationType: settings.authorizationType == .inherited ? .none : settings.authorizationType,
            home: server.home, query: environment.value.query, baseQuery: server.isForeign ? "" : server.address.query)
        if !request.headers.contains(.idempotencyKey), let key = settings.idempotencyKey?.value(using: random) {
            guard !key.isEmpty else {
                throw NetworkError(.invalidRequest, reason: "idempotency key: expected a text, found an empty one")
            }
            request.headers.append(HTTPHeader(.idempotencyKey, key))
        }
        do { request.body = try body(parameters, method).encoded(by: settings.encoder ?? JSONEncoder()) } catch let
            error as NetworkError
        {
            throw error.completed(request: request, response: nil)
        }
        return request
    }

    /// Returns the body of the endpoint, or the body that its parameters form.
    private func body(_ parameters: RequestParameters, _ method: HTTPMethod) throws -> HTTPBody {
        let body = endpoint.body
        guard let given = parameters.body(method) else { return body }
        guard !body.isEmpty else { return given }
        if let fields = parameters.fields(method), let form = body.appending(fields) { return form }
        throw NetworkError(
            .invalidRequest,
            reason: "body: expected `body` or parameters that form a body, found both")
    }

    /// The server of an endpoint's request. Like every property of the endpoint, the base URL is read once, because it
    /// may be computed.
    private struct Server {
        let address: ServerAddress
        /// Whether the endpoint specifies the server.
        var isOwn = false
        /// The environment's origin, if it differs from the origin of `address`.
        var foreignHome: HTTPOrigin?

        /// Whether the server differs from the environment's server.
        var isForeign: Bool { foreignHome != nil }
        var home: HTTPOrigin? { foreignHome ?? address.origin }
    }

    private func server() throws -> Server {
        let own = endpoint.baseURL
        guard own != NetworkEnvironment.noBaseURL else { return Server(address: try shared()) }
        guard own.scheme != nil || own.host != nil else { return Server(address: try shared().appending(own)) }
        let address = try ServerAddress(own)
        guard own.host != nil, case .success(let shared) = environment.value.address else {
            return Server(address: address, isOwn: own.host != nil)
        }
        let isForeign = shared.origin != address.origin
        return Server(address: address, isOwn: true, foreignHome: isForeign ? shared.origin : nil)
    }

    /// Returns the environment's address.
    private func shared() throws -> ServerAddress {
        guard let shared = try environment.value.address?.get() else {
            throw NetworkError(
                .invalidRequest,
                reason:
                    "base URL: neither the endpoint nor the environment has one; set it in NetworkEnvironment(baseURL:)"
            )
        }
        return shared
    }

    /// Returns the environment's header fields, which are sent to the environment's server only.
    private func environmentHeaders(_ server: Server) -> HTTPHeaders {
        server.isForeign ? [] : environment.value.headers
    }

    /// Returns the URL that consists of the base URL, the prefix, the path and the query. One slash separates the
    /// components of its path.
    private func url(at server: Server, _ parameters: URLQuery?) throws -> URL {
        let address = server.address
        let ownPath = endpoint.path
        // If the endpoint has a complete base URL and no path of its own, the path of that URL is used unchanged.
        let isComplete = server.isOwn && ownPath == ""
        let base = isComplete ? address.wholePath : address.path
        let (prefix, path) = isComplete ? ("", "") : try prefixed(ownPath)
        var items =
            environment.value.query.isEmpty || server.isForeign
            ? endpoint.query : environment.value.query + endpoint.query
        if let parameters { items = items + parameters }
        if let fault = items.fault { throw NetworkError(.invalidRequest, reason: "query: \(fault)") }
        let query = items.isEmpty ? "" : items.percentEncoded

        var text = address.authority
        text.reserveCapacity(
            text.utf8.count + base.utf8.count + prefix.utf8.count + path.utf8.count + address.query.utf8.count
                + query.utf8.count + 5)
        text.append(base, after: "/")
        text.append(prefix, after: "/")
        text.append(path, after: "/")
        text.append(address.query, after: "?")
        text.append(query, after: address.query.isEmpty ? "?" : "&")
        guard let url = URL(string: text) else {
            let whole = [base, prefix, path].filter { !$0.isEmpty }.joined(separator: "/")
            throw NetworkError(
                .invalidRequest, reason: "URL: the base URL and the path \"\(whole)\" do not form a valid URL")
        }
        return url
    }

    /// Returns the encoded path, and the prefix that is inserted before it. The prefix is empty if the literal text of
    /// the path begins with the environment's prefix.
    private func prefixed(_ path: EndpointPath) throws -> (prefix: String, path: String) {
        let encoded = try path.percentEncoded()
        guard !encoded.hasPrefix("http://"), !encoded.hasPrefix("https://") else {
            throw NetworkError(
                .invalidRequest, reason: "path: expected a path, found a URL; set `baseURL` for another server")
        }
        let prefix = try environment.value.prefix.get()
        return (prefix.isEmpty || path.begins(with: prefix) ? "" : prefix, encoded)
    }
}

extension String {
    /// Appends a part after a separator, unless the part is empty.
    fileprivate mutating func append(_ part: String, after separator: String) {
        guard !part.isEmpty else { return }
        self += separator
        self += part
    }
}

/// The values of an endpoint and its environment that a call reads once, because an endpoint may compute them. It is the
/// part of a request that belongs to its call.
final class ResolvedEndpoint: HTTPRequest.Part {
    let authorizationType: AuthorizationType
    /// The origin of the environment; the origin of the endpoint if the environment has none.
    let home: HTTPOrigin?
    /// The environment's query.
    private let query: URLQuery
    /// The query of the environment's base URL.
    private let baseQuery: String

    init(authorizationType: AuthorizationType, home: HTTPOrigin?, query: URLQuery, baseQuery: String = "") {
        self.authorizationType = authorizationType
        self.home = home
        self.query = query
        self.baseQuery = baseQuery
    }

    /// The environment's query items, decoded.
    var queryItems: Set<String> {
        Set("\(query.percentEncoded)&\(baseQuery)".split(separator: "&").map { URL.decoded($0) })
    }

    /// The home of a call stays the same, wherever its requests go.
    var outsideOrigin: ResolvedEndpoint? { self }
    var outsideCall: ResolvedEndpoint? { nil }
    /// The endpoint's values are in the request.
    var identity: [String] { [] }
}

extension HTTPRequest {
    private var endpoint: ResolvedEndpoint? { parts[ResolvedEndpoint.self] }

    /// Whether the request goes to an origin that is not the origin of its service's environment. Tokens, and the query
    /// and the fields of the environment, must not be sent there.
    var isForeign: Bool { endpoint.map { $0.home != origin } ?? false }

    /// The origin of the service's environment; the request's own origin if there is none.
    var home: HTTPOrigin? { endpoint?.home ?? origin }

    /// Whether the request was created by hand and not from an endpoint.
    var isUnresolved: Bool { endpoint == nil }

    /// How the call is authorized.
    func authorizationType(of endpoint: any Endpoint) -> AuthorizationType {
        self.endpoint?.authorizationType ?? endpoint.authorizationType
    }

    /// Returns the request of an adapter as a request of its call.
    ///
    /// - Parameter before: The request that the adapter has changed or replaced.
    func adapted(from before: HTTPRequest) -> HTTPRequest {
        (endpoint === before.endpoint ? self : inCall(of: before)).moved(from: [before])
    }

    /// Returns the request of a handler as the request with which its call goes on.
    ///
    /// - Parameters:
    ///   - original: The request with which the call went on until now.
    ///   - sent: The requests that the call has sent, from which the handler may have made its request, too.
    func continuing(_ original: HTTPRequest, sent: [HTTPRequest]) -> HTTPRequest {
        var request = inCall(of: original).moved(from: [original] + sent)
        // The handler may have kept a request of another call. If the token may go there, its adapter adds it again.
        if request.isForeign { request.headers.removeAll { $0.isFromEnvironment || $0.isFromSession } }
        return request
    }

    /// Returns the request of a handler as the request of a call whose own request could not be created.
    func beginning(as type: AuthorizationType, from home: HTTPOrigin?) -> HTTPRequest {
        var request = self
        request.parts[ResolvedEndpoint.self] = ResolvedEndpoint(
            authorizationType: type == .inherited ? .none : type, home: home ?? origin, query: [:])
        return request
    }

    /// Returns the request without the secrets of the origins that it has left. If it has left the environment's origin,
    /// these include the environment's query, and the user and password of its base URL.
    private func moved(from earlier: [HTTPRequest]) -> HTTPRequest {
        let others = earlier.filter { $0.origin != origin }
        guard !others.isEmpty else { return self }
        var request = leavingOrigin(of: earlier)
        if let user = url.user(percentEncoded: true),
            others.contains(where: { $0.url.user(percentEncoded: true) == user })
        {
            request.url = request.url.withoutUser
        }
        if isForeign, url.query(percentEncoded: true) != nil, let items = endpoint?.queryItems, !items.isEmpty {
            request.url = request.url.removing(items)
        }
        return request
    }
}

extension URL {
    /// The text without percent-encoding, for comparisons.
    static func decoded(_ text: Substring) -> String { text.removingPercentEncoding ?? String(text) }

    fileprivate func removing(_ items: Set<String>) -> URL {
        guard let own = self.query(percentEncoded: true) else { return self }
        let left = own.split(separator: "&").filter { !items.contains(URL.decoded($0)) }
        return changed { $0.percentEncodedQuery = left.isEmpty ? nil : left.joined(separator: "&") }
    }

    fileprivate var withoutUser: URL { changed { ($0.user, $0.password) = (nil, nil) } }

    private func changed(_ change: (inout URLComponents) -> Void) -> URL {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        change(&components)
        return components.url ?? self
    }
}
