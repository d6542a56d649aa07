import Foundation

/// The parts of a base URL. The path and the query of an endpoint are appended to them.
///
/// It is a class, because every call copies the address of its environment, and a copy of a reference is cheap.
final class ServerAddress: Sendable {
    /// The scheme and the authority, with user and password if the URL has them: `https://api.example.com:8080`.
    let authority: String
    /// The scheme, the host and the port.
    let origin: HTTPOrigin?
    /// The path, without slashes at its ends.
    let path: String
    /// The path as it is in the URL, without slashes at its start.
    let wholePath: String
    /// The query, without its question mark; empty if there is none.
    let query: String

    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest`` if the URL is not a valid base URL.
    init(_ url: URL) throws {
        let parts = URLAuthority(url)
        guard let scheme = url.scheme, !parts.host.isEmpty else {
            throw NetworkError(
                .invalidRequest,
                reason: "base URL: \"\(url.withoutSecrets)\" has no \(url.scheme == nil ? "scheme" : "host"); "
                    + "write scheme and host, as in https://api.example.com")
        }
        guard scheme.lowercased() == "http" || scheme.lowercased() == "https" else {
            throw NetworkError(.invalidRequest, reason: "base URL: its scheme is \"\(scheme)\", not http or https")
        }
        if let fault = parts.fault { throw NetworkError(.invalidRequest, reason: "base URL: \(fault)") }
        try url.checkSegments()
        let port = parts.port.map { ":\($0)" } ?? ""
        let user = url.user(percentEncoded: true).map { user in
            url.password(percentEncoded: true).map { "\(user):\($0)@" } ?? "\(user)@"
        }
        authority = "\(scheme)://\(user ?? "")\(parts.host)\(port)"
        origin = HTTPOrigin(url)
        path = url.trimmedPath
        wholePath = String(url.path(percentEncoded: true).drop { $0 == "/" })
        query = url.query(percentEncoded: true) ?? ""
    }

    private init(authority: String, origin: HTTPOrigin?, path: String, query: String) {
        self.authority = authority
        self.origin = origin
        self.path = path
        wholePath = path
        self.query = query
    }

    /// Returns the address with the path and query of a relative URL appended.
    func appending(_ relative: URL) throws -> ServerAddress {
        try relative.checkSegments()
        return ServerAddress(
            authority: authority, origin: origin,
            path: [path, relative.trimmedPath].filter { !$0.isEmpty }.joined(separator: "/"),
            query: [query, relative.query(percentEncoded: true) ?? ""].filter { !$0.isEmpty }.joined(separator: "&"))
    }
}

extension URL {
    /// Throws an error if the path has a segment `.` or `..`, because such a segment may lead out of the path that the
    /// app intends.
    fileprivate func checkSegments() throws {
        let path = self.path(percentEncoded: true).lowercased().replacingOccurrences(of: "%2e", with: ".")
        guard let segment = path.split(separator: "/").first(where: { $0 == "." || $0 == ".." }) else { return }
        throw NetworkError(
            .invalidRequest, reason: "base URL: its path has the segment \"\(segment)\"; write the path without it")
    }

    fileprivate var trimmedPath: String {
        path(percentEncoded: true).trimmingCharacters(in: CharacterSet(charactersIn: "/"))
    }
}
