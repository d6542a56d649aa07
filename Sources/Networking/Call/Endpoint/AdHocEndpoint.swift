public import Foundation

/// A call without a type of its own: made where it is needed, from the method and the path on.
///
/// ```swift
/// let user: User = try await service.request(.get("users/\(id)").query(["full": true]))
/// try await service.request(.post("users").body(.json(user)).authorized().settings { $0.timeouts.total = .seconds(5) })
/// ```
///
/// It is a value: each method returns a changed copy. It takes the same journey as every other endpoint.
///
/// A closure inside such a call, as in `.body(.encoded(headers: []) { … })`, is checked as part of it by `request`,
/// `send`, `response` and `task`. Elsewhere (callbacks, `events`) the compiler takes it for non-Sendable: begin with
/// the type's name there, `AdHocEndpoint.post("users")`.
public struct AdHocEndpoint: Endpoint {
    /// The server, where it is not the environment's.
    public private(set) var baseURL: URL
    /// The path.
    public private(set) var path: EndpointPath
    /// The method.
    public private(set) var method: HTTPMethod
    /// The header fields.
    public private(set) var headers: HTTPHeaders = []
    /// The query.
    public private(set) var query = URLQuery()
    /// The body.
    public private(set) var body = HTTPBody.empty
    /// How the call is authorized. Default: ``AuthorizationType/inherited``.
    public private(set) var authorizationType = AuthorizationType.inherited
    /// Whether the call carries an idempotency key.
    public private(set) var idempotencyKey = IdempotencyKey.none
    /// Settings.
    public private(set) var settings = RequestSettings()
    private var statusErrors: [HTTPStatus: any Error] = [:]
    /// Reads the body of a refusal; nil if the call has no type for it.
    var serverError: (@Sendable (HTTPResponse, JSONDecoder) -> (any Sendable)?)?
    /// The same as an error.
    var serverFailure: (@Sendable (HTTPResponse, JSONDecoder, NetworkError) -> (any Error)?)?

    /// Makes a call to a path below the environment's URL.
    public init(_ method: HTTPMethod, _ path: EndpointPath) {
        self.method = method
        self.path = path
        baseURL = NetworkEnvironment.noBaseURL
    }

    /// Makes a call to a URL, whatever the environment's is. The URL's query stays.
    init(_ method: HTTPMethod = .get, url: URL) {
        self.method = method
        path = ""
        baseURL = url
    }

    /// Makes a call to a URL in text. One that is none ends the call, like every other error, when it is made.
    init(_ method: HTTPMethod = .get, url: String) {
        if let address = URL(string: url), address.scheme != nil {
            self.init(method, url: address)
        } else {
            self.init(method, EndpointPath(fault: "\"\(URL.withoutSecrets(url))\" is no URL with a scheme"))
        }
    }

    /// The error that a status means for this call.
    public func error(for status: HTTPStatus) -> (any Error)? { statusErrors[status] }

    func with(_ change: (inout AdHocEndpoint) -> Void) -> AdHocEndpoint {
        var copy = self
        change(&copy)
        return copy
    }

    /// The call with query items, by the rule where some are there already.
    public func query(_ query: URLQuery, _ rule: HTTPHeaders.MergeRule = .overwrite) -> AdHocEndpoint {
        with { $0.query = $0.query.merging(query, rule) }
    }

    /// The call with one more query item, in the place of those of its name; nil adds none.
    public func query(_ name: String, _ value: (any LosslessStringConvertible)?) -> AdHocEndpoint {
        query(URLQuery(dictionaryLiteral: (name, value)))
    }

    /// The call with header fields, by the rule where some are there already.
    public func headers(_ headers: HTTPHeaders, _ rule: HTTPHeaders.MergeRule = .overwrite) -> AdHocEndpoint {
        with { $0.headers.merge(headers, rule) }
    }

    /// The call with one more header field, in the place of those of its name.
    public func header(_ name: HTTPHeader.Name, _ value: String) -> AdHocEndpoint {
        with { $0.headers[name] = value }
    }

    /// The call with a body.
    public func body(_ body: HTTPBody) -> AdHocEndpoint { with { $0.body = body } }

    /// The call with the service's token. Default: as a bearer token.
    public func authorized(_ type: AuthorizationType = .bearer) -> AdHocEndpoint {
        with { $0.authorizationType = type }
    }

    /// The call with an idempotency key.
    public func idempotent(_ key: IdempotencyKey = .unique) -> AdHocEndpoint { with { $0.idempotencyKey = key } }

    /// The call with settings: `.settings { $0.retry = .standard }`.
    public func settings(_ set: (inout RequestSettings) -> Void) -> AdHocEndpoint { with { set(&$0.settings) } }

    /// The call whose refusals mean something: `.errors([.notFound: NoSuchUser()])`.
    public func errors(_ errors: [HTTPStatus: any Error]) -> AdHocEndpoint {
        with { $0.statusErrors.merge(errors) { $1 } }
    }
}

/// Calls in short: `service.request(.get("users/7"))`.
extension Endpoint where Self == AdHocEndpoint {
    /// GET.
    public static func get(_ path: EndpointPath) -> AdHocEndpoint { AdHocEndpoint(.get, path) }
    /// POST.
    public static func post(_ path: EndpointPath) -> AdHocEndpoint { AdHocEndpoint(.post, path) }
    /// PUT.
    public static func put(_ path: EndpointPath) -> AdHocEndpoint { AdHocEndpoint(.put, path) }
    /// PATCH.
    public static func patch(_ path: EndpointPath) -> AdHocEndpoint { AdHocEndpoint(.patch, path) }
    /// DELETE.
    public static func delete(_ path: EndpointPath) -> AdHocEndpoint { AdHocEndpoint(.delete, path) }
    /// HEAD.
    public static func head(_ path: EndpointPath) -> AdHocEndpoint { AdHocEndpoint(.head, path) }
    /// A call to a URL, whatever the environment's is.
    public static func at(_ url: URL, _ method: HTTPMethod = .get) -> AdHocEndpoint { AdHocEndpoint(method, url: url) }
    /// A call to a URL in text, whatever the environment's is.
    public static func url(_ url: String, _ method: HTTPMethod = .get) -> AdHocEndpoint {
        AdHocEndpoint(method, url: url)
    }
}

extension AdHocEndpoint: RedactedReflectable {
    /// Method and path: `GET users/7`. Neither query, credentials nor body.
    var redactedDescription: String {
        "\(method) \(baseURL == NetworkEnvironment.noBaseURL ? "" : baseURL.withoutSecrets)\(path)"
    }

    var reflectedMembers: KeyValuePairs<String, Any> { ["endpoint": description, "headers": headers] }
}
