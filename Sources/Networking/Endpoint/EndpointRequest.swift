import Foundation

/// Makes the request of an endpoint in an environment.
struct EndpointRequest {
    let endpoint: any Endpoint
    let environment: NetworkEnvironment

    /// The request before adapters: URL joined, body encoded, headers and options merged.
    ///
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest`` or ``NetworkError/Kind/bodyNotEncodable``.
    func make(
        timeouts: RequestTimeouts, options: RequestOptions = RequestOptions(), random: RandomSource = .system
    ) throws -> HTTPRequest {
        do { return try request(timeouts, options, random) } catch let error as NetworkError where error.request == nil
        {
            // Where there is no request to tell of, the endpoint's type says which call it was.
            var error = error
            error.reason = error.reason.map { "\($0) (\(type(of: endpoint)))" }
            throw error
        }
    }

    private func request(
        _ timeouts: RequestTimeouts, _ options: RequestOptions, _ random: RandomSource
    ) throws -> HTTPRequest {
        let address = try address()
        let method = endpoint.method
        let parameters = endpoint.parameters
        var request = HTTPRequest(
            method, try url(below: address, parameters.query(method)), of: address.origin, timeouts: timeouts)
        request.headers =
            environment.headers.isEmpty ? endpoint.headers : environmentHeaders(address) + endpoint.headers
        request.options = options
        if isForeign(address) { request[option: OtherOrigin.self] = true }
        if !request.headers.contains(.idempotencyKey), let key = endpoint.idempotencyKey.value(using: random) {
            guard !key.isEmpty else { throw NetworkError(.invalidRequest, reason: "idempotency key: it is empty") }
            request.headers.append(HTTPHeader(.idempotencyKey, key))
        }
        do {
            let body = endpoint.body
            let given = parameters.body(method)
            guard body.isEmpty || given == nil else {
                throw NetworkError(.invalidRequest, reason: "body: there is one, and parameters that are one, too")
            }
            request.body = try (given ?? body).encoded()
        } catch let error as NetworkError {
            throw error.completed(request: request, response: nil)
        }
        return request
    }

    /// Base, prefix, path and query, joined component by component with one slash between.
    private func url(below address: ServerAddress, _ parameters: URLQuery?) throws -> URL {
        // A whole URL goes where it says.
        let path = hasOwnServer && endpoint.path == "" ? address.wholePath : try path(below: address.path)
        var items =
            environment.query.isEmpty || isForeign(address) ? endpoint.query : environment.query + endpoint.query
        if let parameters { items = items + parameters }
        if let fault = items.fault { throw NetworkError(.invalidRequest, reason: "query: \(fault)") }
        let query = address.query.appending(items.percentEncoded, after: "&")
        let text = address.authority + (path.isEmpty ? "" : "/" + path) + (query.isEmpty ? "" : "?" + query)
        guard let url = URL(string: text) else {
            throw NetworkError(.invalidRequest, reason: "URL: the base and the path \"\(path)\" make none")
        }
        return url
    }

    /// Whether the endpoint names a server.
    private var hasOwnServer: Bool { endpoint.baseURL != NetworkEnvironment.noBaseURL && endpoint.baseURL.host != nil }

    /// Whether an address is at another server than the environment's.
    private func isForeign(_ address: ServerAddress) -> Bool {
        guard hasOwnServer, case .success(let own) = environment.address else { return false }
        return own.origin != address.origin
    }

    /// The environment's fields; what is secret among them stays with its server.
    private func environmentHeaders(_ address: ServerAddress) -> HTTPHeaders {
        guard isForeign(address) else { return environment.headers }
        var headers = environment.headers
        headers.removeAll(where: \.isSensitive)
        return headers
    }

    private func address() throws -> ServerAddress {
        let own = endpoint.baseURL
        let isRelative = own == NetworkEnvironment.noBaseURL || own.scheme == nil && own.host == nil
        guard isRelative else { return try ServerAddress(own) }
        guard let shared = try environment.address?.get() else {
            throw NetworkError(.invalidRequest, reason: "base URL: neither the endpoint nor the environment has one")
        }
        return own == NetworkEnvironment.noBaseURL ? shared : shared.appending(own)
    }

    /// The endpoint's path below the base's, with the prefix between unless the endpoint's own words begin with it.
    private func path(below base: String) throws -> String {
        let path = endpoint.path
        let encoded = try path.percentEncoded()
        guard !encoded.hasPrefix("http://"), !encoded.hasPrefix("https://") else {
            throw NetworkError(.invalidRequest, reason: "path: it is a URL; say `baseURL` for another server")
        }
        let prefix = try environment.prefix.get()
        guard !prefix.isEmpty, !path.begins(with: prefix) else { return base.appending(encoded, after: "/") }
        return base.appending(prefix, after: "/").appending(encoded, after: "/")
    }
}

extension String {
    /// Two parts with a separator between, where neither is empty.
    fileprivate func appending(_ part: String, after separator: String) -> String {
        isEmpty ? part : part.isEmpty ? self : self + separator + part
    }
}
