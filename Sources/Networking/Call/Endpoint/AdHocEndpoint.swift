public import Foundation

/// A call for which you declare no endpoint type. You create it where you make the call, from a method and a path.
///
/// ```swift
/// let user: User = try await service.request(.get("users/\(id)").query(["full": true]))
/// try await service.request(
///     .post("users").body(.json(user)).authorized().settings { $0.timeouts.total = .seconds(5) })
/// ```
///
/// `AdHocEndpoint` is a value type: each method returns a changed copy. A service treats it like every other endpoint.
///
/// A closure inside such a call, as in `.body(.encoded(headers: []) { … })`, compiles if the call is an argument of
/// `request`, `send`, `response` or `task`. For other methods, such as `events`, the compiler treats the closure as
/// non-Sendable. In this case, begin the call with the name of the type, as in `AdHocEndpoint.post("users")`.
public struct AdHocEndpoint: Endpoint {
    /// The server, if it is not the server of the environment. Default: ``NetworkEnvironment/noBaseURL``.
    public private(set) var baseURL: URL
    /// The path below the base URL.
    public private(set) var path: EndpointPath
    /// The method. The short forms, such as `.get(…)`, set it.
    public private(set) var method: HTTPMethod
    /// The header fields. Default: none.
    public private(set) var headers: HTTPHeaders = []
    /// The query. Default: none.
    public private(set) var query = URLQuery()
    /// The body. Default: empty.
    public private(set) var body = HTTPBody.empty
    /// How the call is authorized. Default: ``AuthorizationType/inherited``.
    public private(set) var authorizationType = AuthorizationType.inherited
    /// The `Idempotency-Key` of the call. Default: ``IdempotencyKey/none``.
    public private(set) var idempotencyKey = IdempotencyKey.none
    /// The settings of the call. Default: none is set.
    public private(set) var settings = RequestSettings()
    private var statusErrors: [HTTPStatus: any Error] = [:]
    /// Reads the body of an error response as the type of the server's errors; nil if the call has no such type.
    var serverError: (@Sendable (HTTPResponse, any BodyDecoder) -> (any Sendable)?)?
    /// Converts the body of an error response to the error with which the call ends; nil if the call has no error type.
    var serverFailure: (@Sendable (HTTPResponse, any BodyDecoder, NetworkError) -> (any Error)?)?

    /// Creates a call to a path below the environment's URL.
    public init(_ method: HTTPMethod, _ path: EndpointPath) {
        self.method = method
        self.path = path
        baseURL = NetworkEnvironment.noBaseURL
    }

    /// Creates a call to a URL that does not depend on the environment. The query of the URL is preserved.
    init(_ method: HTTPMethod = .get, url: URL) {
        self.method = method
        path = ""
        baseURL = url
    }

    /// Creates a call to a URL that is given as text. If the text is not a URL with a scheme and a host, the call fails
    /// when it is made.
    init(_ method: HTTPMethod = .get, url: String) {
        if let address = URL(reference: url), address.host?.isEmpty == false {
            self.init(method, url: address)
        } else {
            self.init(
                method, EndpointPath(fault: "\"\(URL.withoutSecrets(url))\" is not a URL with a scheme and a host"))
        }
    }

    /// Returns the error that ``errors(_:)`` has set for a status; nil if no error is set.
    public func error(for status: HTTPStatus) -> (any Error)? { statusErrors[status] }

    func with(_ change: (inout AdHocEndpoint) -> Void) -> AdHocEndpoint {
        var copy = self
        change(&copy)
        return copy
    }

    /// Returns the call with query items added. The rule determines how they are merged with the existing items.
    public func query(_ query: URLQuery, _ rule: HTTPHeaders.MergeRule = .overwrite) -> AdHocEndpoint {
        with { $0.query = $0.query.merging(query, rule) }
    }

    /// Returns the call with one query item, which replaces the items of the same name. A nil value adds no item. See
    /// ``URLQuery`` for the values that can be written.
    public func query(_ name: String, _ value: Any?) -> AdHocEndpoint {
        query(URLQuery(dictionaryLiteral: (name, value)))
    }

    /// Returns the call with header fields added. The rule determines how they are merged with the existing fields.
    public func headers(_ headers: HTTPHeaders, _ rule: HTTPHeaders.MergeRule = .overwrite) -> AdHocEndpoint {
        with { $0.headers.merge(headers, rule) }
    }

    /// Returns the call with one header field, which replaces the fields of the same name.
    public func header(_ name: HTTPHeader.Name, _ value: String) -> AdHocEndpoint {
        with { $0.headers[name] = value }
    }

    /// Returns the call with a body.
    public func body(_ body: HTTPBody) -> AdHocEndpoint { with { $0.body = body } }

    /// Returns the call with an authorization type. The call then carries the service's token. Default: a bearer token.
    public func authorized(_ type: AuthorizationType = .bearer) -> AdHocEndpoint {
        with { $0.authorizationType = type }
    }

    /// Returns the call with an idempotency key. Default: a new UUID for each call.
    public func idempotent(_ key: IdempotencyKey = .unique) -> AdHocEndpoint { with { $0.idempotencyKey = key } }

    /// Returns the call with settings: `.settings { $0.retry = .standard }`.
    public func settings(_ set: (inout RequestSettings) -> Void) -> AdHocEndpoint { with { set(&$0.settings) } }

    /// Returns the same call with another URL, for example with the link to the next page that a response contains. The
    /// query of the URL replaces the query of the call. If the URL has another origin, the call is sent without the
    /// values that belong to the old origin, as after a redirect. A change from https to http ends the call with
    /// ``NetworkError/Kind/invalidRequest``.
    ///
    /// ```swift
    /// if let next = page.http.link("next") { page = try await service.response(call.at(next)) }
    /// ```
    public func at(_ url: URL) -> AdHocEndpoint { with { $0.settings.address = url } }

    /// Returns the call with errors for statuses: `.errors([.notFound: NoSuchUser()])`. An error response with one of
    /// these statuses ends the call with the error for the status.
    public func errors(_ errors: [HTTPStatus: any Error]) -> AdHocEndpoint {
        with { $0.statusErrors.merge(errors) { $1 } }
    }
}

/// Short forms of calls: `service.request(.get("users/7"))`.
extension Endpoint where Self == AdHocEndpoint {
    /// Returns a GET call to a path.
    public static func get(_ path: EndpointPath) -> AdHocEndpoint { AdHocEndpoint(.get, path) }
    /// Returns a POST call to a path.
    public static func post(_ path: EndpointPath) -> AdHocEndpoint { AdHocEndpoint(.post, path) }
    /// Returns a PUT call to a path.
    public static func put(_ path: EndpointPath) -> AdHocEndpoint { AdHocEndpoint(.put, path) }
    /// Returns a PATCH call to a path.
    public static func patch(_ path: EndpointPath) -> AdHocEndpoint { AdHocEndpoint(.patch, path) }
    /// Returns a DELETE call to a path.
    public static func delete(_ path: EndpointPath) -> AdHocEndpoint { AdHocEndpoint(.delete, path) }
    /// Returns a HEAD call to a path.
    public static func head(_ path: EndpointPath) -> AdHocEndpoint { AdHocEndpoint(.head, path) }
    /// Returns a call to a URL that does not depend on the environment.
    public static func at(_ url: URL, _ method: HTTPMethod = .get) -> AdHocEndpoint { AdHocEndpoint(method, url: url) }
    /// Returns a call to a URL that is given as text and does not depend on the environment.
    public static func url(_ url: String, _ method: HTTPMethod = .get) -> AdHocEndpoint {
        AdHocEndpoint(method, url: url)
    }
}

extension AdHocEndpoint: RedactedReflectable {
    /// The method and the path, as in `GET users/7`, without query, credentials and body.
    var redactedDescription: String {
        "\(method) \(baseURL == NetworkEnvironment.noBaseURL ? "" : baseURL.withoutSecrets)\(path)"
    }

    var reflectedMembers: KeyValuePairs<String, Any> { ["endpoint": description, "headers": headers] }
}
