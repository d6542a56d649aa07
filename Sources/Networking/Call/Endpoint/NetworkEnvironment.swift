public import Foundation

/// A server, with the path prefix, header fields and query of every request to it.
///
/// Header fields of an endpoint override those of the environment, and adapters override both. A field of
/// ``defaultHeaders`` is added unless the environment, the endpoint or the converter sets a field of the same name. No
/// query is overridden: the items of the base URL come first, then those of the environment, then those of the
/// endpoint.
public struct NetworkEnvironment: Sendable {
    /// The server, with or without a path; nil if every endpoint has a base URL of its own.
    ///
    /// A user and password in the URL are sent as `Authorization: Basic …`, unless the request has that field. No
    /// description shows them.
    public let baseURL: URL?
    /// The path between the base URL and an endpoint's path. It is not inserted if the endpoint's path already begins
    /// with all segments of the prefix. Default: empty.
    public let pathPrefix: EndpointPath
    /// The header fields of every request. Default: none.
    public let headers: HTTPHeaders
    /// The query items of every request, before those of the endpoint. Default: none.
    public let query: URLQuery
    /// The header fields that are added to every request, even to requests to other servers. A field is not added if
    /// the request has a field of the same name before it is adapted. Default: ``HTTPHeaders/standard``, which are
    /// `User-Agent` and `Accept-Language`.
    public let defaultHeaders: HTTPHeaders

    /// The parts of the base URL. If the base URL is invalid, this is the error with which each call ends that uses the
    /// base URL.
    let address: Result<ServerAddress, any Error>?
    /// The percent-encoded prefix without slashes at its ends, or the error of an invalid prefix.
    let prefix: Result<String, any Error>

    /// Creates an environment.
    public init(
        baseURL: URL? = nil, pathPrefix: EndpointPath = "", headers: HTTPHeaders = [], query: URLQuery = [:],
        defaultHeaders: HTTPHeaders = .standard
    ) {
        self.baseURL = baseURL
        self.address = baseURL.map { url in Result { try ServerAddress(url) } }
        self.pathPrefix = pathPrefix
        self.prefix = Result { try pathPrefix.trimmed() }
        self.headers = headers.from(.environment)
        self.query = query
        self.defaultHeaders = defaultHeaders
    }

    // "/" is a valid relative reference (RFC 3986 section 4.2), so the URL cannot be nil.
    // swift-format-ignore: NeverForceUnwrap
    /// The value that an endpoint returns as its ``Endpoint/baseURL`` to use the URL of the service's environment. If
    /// some cases of an endpoint use another server, return this value for all other cases.
    public static let noBaseURL = URL(string: "/")!
}

extension NetworkEnvironment: RedactedReflectable {
    /// The base URL without query, user and password.
    var redactedDescription: String { baseURL?.withoutSecrets ?? "no base URL" }

    var reflectedMembers: KeyValuePairs<String, Any> { ["environment": description, "headers": headers] }
}

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
    /// The path as it is in the URL.
    let wholePath: String
    /// The query, without its question mark; empty if there is none.
    let query: String
    /// Whether the URL ends with a question mark.
    let hasEmptyQuery: Bool

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
            throw NetworkError(
                .invalidRequest,
                reason: "base URL: expected the scheme http or https, found \"\(scheme)\"\(URL.hint(for: scheme))")
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
        wholePath = url.path(percentEncoded: true)
        let query = url.query(percentEncoded: true)
        self.query = query ?? ""
        hasEmptyQuery = query?.isEmpty ?? false
    }

    private init(authority: String, origin: HTTPOrigin?, path: String, wholePath: String, query: String) {
        self.authority = authority
        self.origin = origin
        self.path = path
        self.wholePath = wholePath
        self.query = query
        hasEmptyQuery = false
    }

    /// Whether the path ends with a slash, and is not the root.
    var endsWithSlash: Bool { !path.isEmpty && wholePath.utf8.last == UInt8(ascii: "/") }

    /// Returns the address with the path and query of a relative URL appended.
    func appending(_ relative: URL) throws -> ServerAddress {
        try relative.checkSegments()
        let more = relative.path(percentEncoded: true)
        return ServerAddress(
            authority: authority, origin: origin,
            path: [path, relative.trimmedPath].filter { !$0.isEmpty }.joined(separator: "/"),
            wholePath: more.isEmpty ? wholePath : more,
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
