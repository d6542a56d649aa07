import Foundation

/// Makes the request of an endpoint in an environment.
struct EndpointRequest {
    let endpoint: any Endpoint
    let environment: NetworkEnvironment

    /// The request before adapters: URL joined, body encoded, headers and options merged.
    ///
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest`` or ``NetworkError/Kind/bodyNotEncodable``.
    func make(timeouts: RequestTimeouts) throws -> HTTPRequest {
        var request = HTTPRequest(endpoint.method, try url(), timeouts: timeouts)
        request.headers = environment.headers.isEmpty ? endpoint.headers : environment.headers + endpoint.headers
        request.options = endpoint.options
        do {
            request.body = try endpoint.body.encoded()
        } catch let error as NetworkError {
            throw error.completed(request: request, response: nil)
        }
        return request
    }

    /// Base, prefix, path and query, joined component by component with one slash between.
    private func url() throws -> URL {
        let base = try base()
        let path = try [base.path, prefix(), endpoint.path.percentEncoded()].filter { !$0.isEmpty }.joined(
            separator: "/")
        var text = base.origin + (path.isEmpty ? "" : "/" + path)
        let query = [base.query, (environment.query + endpoint.query).percentEncoded].filter { !$0.isEmpty }
        if !query.isEmpty { text += "?" + query.joined(separator: "&") }
        guard let url = URL(string: text) else {
            throw NetworkError(.invalidRequest, reason: "URL: the base and the path \"\(path)\" make none")
        }
        return url
    }

    private struct Base {
        /// Scheme and authority: `https://api.example.com:8080`.
        let origin: String
        /// The path, without slashes at its ends.
        let path: String
        let query: String
    }

    private func base() throws -> Base {
        let own = endpoint.baseURL
        if own.scheme == nil, own.host == nil {
            guard let shared = environment.baseURL else {
                throw NetworkError(
                    .invalidRequest, reason: "base URL: neither the endpoint nor the environment has one")
            }
            let base = try EndpointRequest.base(shared)
            let paths = [base.path, EndpointRequest.trimmed(own.percentEncodedPath)].filter { !$0.isEmpty }
            let queries = [base.query, own.query(percentEncoded: true) ?? ""].filter { !$0.isEmpty }
            return Base(
                origin: base.origin, path: paths.joined(separator: "/"), query: queries.joined(separator: "&"))
        }
        return try EndpointRequest.base(own)
    }

    private static func base(_ url: URL) throws -> Base {
        guard let scheme = url.scheme, let host = url.host(percentEncoded: true), !host.isEmpty else {
            throw NetworkError(
                .invalidRequest,
                reason:
                    "base URL: \"\(url.withoutSecrets)\" has no \(url.scheme == nil ? "scheme" : "host"); write it with https://"
            )
        }
        guard scheme.lowercased() == "http" || scheme.lowercased() == "https" else {
            throw NetworkError(.invalidRequest, reason: "base URL: its scheme is \"\(scheme)\", not http or https")
        }
        let bracketed = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let port = url.port.map { ":\($0)" } ?? ""
        let user = url.user(percentEncoded: true).map { user in
            url.password(percentEncoded: true).map { "\(user):\($0)@" } ?? "\(user)@"
        }
        return Base(
            origin: "\(scheme)://\(user ?? "")\(bracketed)\(port)", path: trimmed(url.percentEncodedPath),
            query: url.query(percentEncoded: true) ?? "")
    }

    /// The prefix; empty where the endpoint's path begins with its whole segments.
    private func prefix() throws -> String {
        let prefix = EndpointRequest.trimmed(try environment.pathPrefix.percentEncoded())
        let path = try endpoint.path.percentEncoded()
        return path == prefix || path.hasPrefix(prefix + "/") ? "" : prefix
    }

    private static func trimmed(_ path: String) -> String {
        path.trimmingCharacters(in: CharacterSet(charactersIn: "/"))
    }
}

extension URL {
    fileprivate var percentEncodedPath: String { path(percentEncoded: true) }

    /// For messages: neither query nor user and password.
    fileprivate var withoutSecrets: String {
        let address = absoluteString.prefix { $0 != "?" && $0 != "#" }
        return String(address.split(separator: "@", omittingEmptySubsequences: false).last ?? address)
    }
}
