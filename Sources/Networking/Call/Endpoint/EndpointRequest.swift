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
            error.reason = error.reason.map { "\($0) (\(type(of: endpoint)), \(method) \(endpoint.urlTemplate))" }
            throw error
        }
    }

    private func request(_ settings: RequestSettings, _ random: RandomSource) throws -> HTTPRequest {
        let server = try server()
        let (parameters, path) = (endpoint.parameters, endpoint.path)
        var request = HTTPRequest(
            method, try url(at: server, path, parameters.query(method)), of: server.address.origin,
            timeouts: settings.timeouts)
        let shared = server.isForeign ? [] : environment.value.headers  // sent to the environment's server only
        request.headers = shared.isEmpty ? endpoint.headers : shared.merging(endpoint.headers)
        if let condition = try settings.condition?.get() { request.headers.set(condition) }
        request.options = settings.options
        request.networkAccess = settings.networkAccess
        request.parts = settings.orders
        request.parts[ResolvedEndpoint.self] = ResolvedEndpoint(
            authorizationType: settings.authorizationType == .inherited ? .none : settings.authorizationType,
            home: server.home, path: path, query: environment.value.query,
            baseQuery: server.isForeign ? "" : server.address.query)
        if !request.headers.contains(.idempotencyKey), let key = settings.idempotencyKey?.value(using: random) {
            guard !key.isEmpty else {
                throw NetworkError(.invalidRequest, reason: "idempotency key: expected a text, found an empty one")
            }
            request.headers.append(HTTPHeader(.idempotencyKey, key))
        }
        do { request.body = try body(parameters, method, settings).encoded(by: settings.bodyEncoder) } catch let
            error as NetworkError
        {
            throw error.completed(request: request, response: nil)
        }
        return try settings.address.map { try request.moved(to: $0) } ?? request
    }

    /// Returns the body of the endpoint, or the body that its parameters form.
    private func body(
        _ parameters: RequestParameters, _ method: HTTPMethod, _ settings: RequestSettings
    ) throws -> HTTPBody {
        if let body = settings.body { return body }
        let body = endpoint.body
        guard let given = parameters.body(method) else { return body }
        guard !body.isEmpty else { return given }
        if let fields = parameters.fields(method), let form = body.appending(fields) { return form }
        throw NetworkError(
            .invalidRequest,
            reason: "body: the endpoint sets both `body` and parameters for the body; expected only one of the two")
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
                    "base URL: neither the endpoint nor the environment has a base URL; "
                    + "set it in NetworkEnvironment(baseURL:), and check whether URL(string:) has returned nil"
            )
        }
        return shared
    }

    /// Returns the URL that consists of the base URL, the prefix, the path and the query. One slash separates the
    /// components of its path.
    private func url(at server: Server, _ ownPath: EndpointPath, _ parameters: URLQuery?) throws -> URL {
        let address = server.address
        // If the endpoint has a complete base URL and no path of its own, the path of that URL is used unchanged.
        let isComplete = server.isOwn && ownPath == ""
        let base = isComplete ? "" : address.path
        let (prefix, path) = isComplete ? ("", "") : try prefixed(ownPath)
        let shared = server.isForeign ? URLQuery() : environment.value.query
        var items = shared.isEmpty ? endpoint.query : shared + endpoint.query
        if let parameters { items = items + parameters }
        if let fault = items.fault { throw NetworkError(.invalidRequest, reason: "query: \(fault)") }
        let query = items.isEmpty ? "" : items.percentEncoded

        var text = address.authority
        if isComplete { text += address.wholePath }
        text.reserveCapacity(
            text.utf8.count + base.utf8.count + prefix.utf8.count + path.utf8.count + address.query.utf8.count
                + query.utf8.count + 5)
        text.append(base, after: "/")
        text.append(prefix, after: "/")
        text.append(path, after: "/")
        if !isComplete, path.isEmpty, keepsSlash(ownPath, address, prefix) { text += "/" }
        text.append(address.query, after: "?")
        text.append(query, after: address.query.isEmpty ? "?" : "&")
        if isComplete, query.isEmpty, address.hasEmptyQuery { text += "?" }
        guard let url = URL(string: text) else {
            let whole = [isComplete ? address.wholePath : base, prefix, path].filter { !$0.isEmpty }.joined(
                separator: "/")
            throw NetworkError(
                .invalidRequest, reason: "URL: the base URL and the path \"\(whole)\" do not form a valid URL")
        }
        return url
    }

    /// Whether the URL ends with a slash if the endpoint's path has no segments. This is true if the endpoint's path is
    /// a single slash, or if the prefix ends with a slash (without a prefix: the path of the base URL; RFC 3986 section
    /// 5.2.2). The root needs no slash.
    private func keepsSlash(_ path: EndpointPath, _ address: ServerAddress, _ prefix: String) -> Bool {
        guard path == "" else { return !prefix.isEmpty || !address.path.isEmpty }
        return prefix.isEmpty ? address.endsWithSlash : environment.value.pathPrefix.endsWithSlash
    }

    /// Returns the encoded path, and the prefix that is inserted before it. The prefix is empty if the literal text of
    /// the path begins with the environment's prefix.
    private func prefixed(_ path: EndpointPath) throws -> (prefix: String, path: String) {
        let encoded = try path.percentEncoded()
        guard !encoded.hasPrefix("http://"), !encoded.hasPrefix("https://") else {
            throw NetworkError(
                .invalidRequest,
                reason: "path: the endpoint's path is a URL, expected a path; to use another server, set `baseURL`")
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
