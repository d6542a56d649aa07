public import Foundation

/// A server with what goes to it with every request: path prefix, header fields, query.
///
/// What an endpoint says wins over it, and adapters win over both. The query of the base URL is kept.
public struct NetworkEnvironment: Sendable {
    /// The server, with or without a path; nil if every endpoint has a base URL of its own.
    ///
    /// A user and password in it are sent as `Authorization: Basic …`, unless the request has that field. No text shows
    /// them.
    public let baseURL: URL?
    /// A path put between the base URL and an endpoint's path, unless that begins with the same whole segments.
    public let pathPrefix: EndpointPath
    /// Header fields for every request.
    public let headers: HTTPHeaders
    /// Query items for every request, before those of the endpoint.
    public let query: URLQuery

    /// The base URL in its parts, or what is wrong with it: told by each call that uses it.
    let address: Result<ServerAddress, any Error>?
    /// The prefix percent-encoded, without slashes at its ends, or what is wrong with it.
    let prefix: Result<String, any Error>

    /// Makes an environment.
    public init(
        baseURL: URL? = nil, pathPrefix: EndpointPath = "", headers: HTTPHeaders = [], query: URLQuery = [:]
    ) {
        self.baseURL = baseURL
        self.address = baseURL.map { url in Result { try ServerAddress(url) } }
        self.pathPrefix = pathPrefix
        self.prefix = Result { try pathPrefix.trimmed() }
        self.headers = headers
        self.query = query
    }

    // "/" is a valid relative reference (RFC 3986 section 4.2), so that the URL cannot be nil.
    // swift-format-ignore: NeverForceUnwrap
    /// What an endpoint's ``Endpoint/baseURL`` is where it has none of its own: the service's environment is meant.
    /// Name it in an endpoint of which only some cases go to another server.
    public static let noBaseURL = URL(string: "/")!
}

extension NetworkEnvironment: RedactedReflectable {
    /// The base URL with neither query, user nor password.
    var redactedDescription: String { baseURL?.withoutSecrets ?? "no base URL" }

    var reflectedMembers: KeyValuePairs<String, Any> { ["environment": description, "headers": headers] }
}
