public import Foundation

/// A server, with the path prefix, header fields and query of every request to it.
///
/// Header fields of an endpoint override those of the environment, and adapters override both. No query is overridden:
/// the items of the base URL come first, then those of the environment, then those of the endpoint.
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

    /// The parts of the base URL, or the error with which each call that uses the base URL ends.
    let address: Result<ServerAddress, any Error>?
    /// The percent-encoded prefix without slashes at its ends, or its error.
    let prefix: Result<String, any Error>

    /// Creates an environment.
    public init(
        baseURL: URL? = nil, pathPrefix: EndpointPath = "", headers: HTTPHeaders = [], query: URLQuery = [:]
    ) {
        self.baseURL = baseURL
        self.address = baseURL.map { url in Result { try ServerAddress(url) } }
        self.pathPrefix = pathPrefix
        self.prefix = Result { try pathPrefix.trimmed() }
        self.headers = headers.from(.environment)
        self.query = query
    }

    // "/" is a valid relative reference (RFC 3986 section 4.2), so the URL cannot be nil.
    // swift-format-ignore: NeverForceUnwrap
    /// The value of ``Endpoint/baseURL`` that stands for the URL of the service's environment. If some cases of an
    /// endpoint use another server, return this value for the cases that use the URL of the environment.
    public static let noBaseURL = URL(string: "/")!
}

extension NetworkEnvironment: RedactedReflectable {
    /// The base URL without query, user and password.
    var redactedDescription: String { baseURL?.withoutSecrets ?? "no base URL" }

    var reflectedMembers: KeyValuePairs<String, Any> { ["environment": description, "headers": headers] }
}
