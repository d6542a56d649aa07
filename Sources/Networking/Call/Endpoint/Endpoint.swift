public import Foundation

/// The description of one call: its URL, method, header fields and body, and the app's errors for its failures.
///
/// Every member except ``path`` has a default. Write one enumeration for each backend domain, with a case for each
/// call:
///
/// ```swift
/// enum ContactEndpoint {
///     case list(page: Int)
///     case rename(id: Int, to: String)
/// }
///
/// extension ContactEndpoint: Endpoint {  // in an extension, the compiler warns about members that are misspelt
///     var path: EndpointPath {
///         switch self {
///         case .list: "contacts"
///         case .rename(let id, _): "contacts/\(id)"
///         }
///     }
///
///     var method: HTTPMethod {
///         switch self {
///         case .list: .get
///         case .rename: .patch
///         }
///     }
///
///     var query: URLQuery {
///         switch self {
///         case .list(let page): ["page": page]
///         case .rename: [:]
///         }
///     }
///
///     var body: HTTPBody {
///         switch self {
///         case .list: .empty
///         case .rename(_, let name): .json(["name": name])
///         }
///     }
///
///     var authorizationType: AuthorizationType { .bearer }
///
///     func error(for status: HTTPStatus) -> (any Error)? { status == .notFound ? ContactError.unknownContact : nil }
/// }
/// ```
///
/// A service reads each property once per call, when it creates the request.
public protocol Endpoint<ResponseValue>: Sendable {
    /// The type of the result, which a ``TypedEndpoint`` declares. Default: ``Untyped``; each call then names its
    /// result type.
    associatedtype ResponseValue: Sendable = Untyped

    /// The server, if it is not the server of the service's environment. A URL without scheme and host is appended to
    /// the environment's URL. Default: ``NetworkEnvironment/noBaseURL``, a URL without scheme and host.
    var baseURL: URL { get }
    /// The path below the base URL.
    var path: EndpointPath { get }
    /// The method. Default: GET.
    var method: HTTPMethod { get }
    /// The header fields. They override the fields of the environment, and adapters override both. Default: none.
    var headers: HTTPHeaders { get }
    /// The query items. They follow the items of the base URL and of the environment. Default: none.
    var query: URLQuery { get }
    /// The body. Default: empty.
    var body: HTTPBody { get }
    /// The parameters, which are sent in the query or in the body. In the query, they follow the items of ``query``. If
    /// ``body`` is a multipart form, form parameters become fields after its parts. Otherwise, parameters for the body
    /// are an error if ``body`` is not empty. Default: none.
    var parameters: RequestParameters { get }
    /// How the call is authorized. Default: ``AuthorizationType/inherited``, which uses the setting of the service.
    var authorizationType: AuthorizationType { get }
    /// The `Idempotency-Key` of the call. A server that supports keys executes the call once, even if it receives the
    /// request several times. Default: none.
    var idempotencyKey: IdempotencyKey { get }
    /// The settings, such as timeouts or a retry policy. They override the settings of the service, and the settings of
    /// the call override them. Default: none is set.
    var settings: RequestSettings { get }
    /// The path with a placeholder for each interpolated value. Reports use it to group calls of one kind. It is the
    /// `url.template` of OpenTelemetry. By default, each placeholder is `{}`, as in `/users/{}`. Implement this
    /// property to use names, as in `/users/{id}`.
    var urlTemplate: String { get }

    /// Returns the app's error for a status. Default: nil, so that the general error mapping applies.
    func error(for status: HTTPStatus) -> (any Error)?
    /// Returns the app's error for problem details of the server (RFC 9457). Default: nil, so that the method for the
    /// status is called.
    func error(for problem: ProblemDetails) -> (any Error)?
    /// Returns the app's error for a failed transfer. Default: nil, so that the general error mapping applies.
    func error(for code: URLError.Code) -> (any Error)?
}

/// The result type of an ``Endpoint`` that declares none, so that each call names its result type. It is also the error
/// type of a ``TypedEndpoint`` that declares no error type.
public enum Untyped: Decodable, Sendable {
    /// Always throws an error, because the type has no values.
    public init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "the endpoint declares no type"))
    }
}

extension Endpoint {
    /// The path with `{}` for each interpolated value: `/users/{}`.
    public var urlTemplate: String { "/" + path.template }
    /// Default: the base URL of the service's environment.
    public var baseURL: URL { NetworkEnvironment.noBaseURL }
    /// Default: GET.
    public var method: HTTPMethod { .get }
    /// Default: no header fields.
    public var headers: HTTPHeaders { [] }
    /// Default: no query items.
    public var query: URLQuery { [:] }
    /// Default: an empty body.
    public var body: HTTPBody { .empty }
    /// Default: no parameters.
    public var parameters: RequestParameters { .none }
    /// Default: the setting of the service.
    public var authorizationType: AuthorizationType { .inherited }
    /// Default: no key.
    public var idempotencyKey: IdempotencyKey { .none }
    /// Default: no settings.
    public var settings: RequestSettings { RequestSettings() }
    /// Returns nil: the general error mapping applies.
    public func error(for status: HTTPStatus) -> (any Error)? { nil }
    /// Returns nil: the method for the status is called.
    public func error(for problem: ProblemDetails) -> (any Error)? { nil }
    /// Returns nil: the general error mapping applies.
    public func error(for code: URLError.Code) -> (any Error)? { nil }
}

extension HTTPHeader {
    /// Returns an `Authorization` field with a token and the scheme of an authorization type.
    static func authorization(_ type: AuthorizationType, _ token: String) -> HTTPHeader {
        .authorization(.custom(scheme: type.scheme, credentials: token))
    }
}

/// The `Idempotency-Key` of a call ([IETF
/// draft](https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/)). A retry policy sends even a
/// POST again if the POST has a key.
public struct IdempotencyKey: Hashable, Sendable, ExpressibleByStringLiteral {
    private enum Content: Hashable, Sendable {
        case none
        case minted
        case given(String)
    }

    private let content: Content

    private init(content: Content) {
        self.content = content
    }

    /// No key.
    public static let none = IdempotencyKey(content: .none)
    /// A new UUID for each call. It is the same in all attempts of the call, including retries and attempts with a
    /// refreshed token.
    public static let unique = IdempotencyKey(content: .minted)

    /// Returns a key that the app has chosen, for example to repeat a call of an earlier process. With an empty key,
    /// the call fails before anything is sent.
    public static func value(_ key: String) -> IdempotencyKey { IdempotencyKey(content: .given(key)) }

    /// Creates a key that the app has chosen: see ``value(_:)``.
    public init(stringLiteral key: String) {
        self = .value(key)
    }

    /// Whether the app has chosen the key. Such a key is the same for each call.
    var isGiven: Bool { if case .given = content { true } else { false } }

    /// Returns the field's value for one call; nil for ``none``.
    func value(using random: RandomSource) -> String? {
        switch content {
        case .none: nil
        case .minted: random.uuid().uuidString.lowercased()
        case .given(let key): key
        }
    }
}

extension IdempotencyKey: RedactedReflectable {
    /// The kind of the key, without the value of a key that the app has chosen.
    var redactedDescription: String {
        switch content {
        case .none: "none"
        case .minted: "unique"
        case .given: "a key of the app's own"
        }
    }
}
