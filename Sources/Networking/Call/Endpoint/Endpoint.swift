public import Foundation

/// The description of one call: where it goes, how, with what, and what its failures mean.
///
/// Everything but ``path`` has a default. Write one enumeration for each backend domain, with a case for each call:
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
/// An endpoint is read once a call, when it becomes a request.
public protocol Endpoint<ResponseValue>: Sendable {
    /// The type of its result, which a ``TypedEndpoint`` names. Default: ``Untyped``; the call names it.
    associatedtype ResponseValue: Sendable = Untyped

    /// The server, where it is not that of the service's environment. A URL without scheme and host, which is the
    /// default, is appended to the environment's.
    var baseURL: URL { get }
    /// The path below the base URL.
    var path: EndpointPath { get }
    /// The method. Default: GET.
    var method: HTTPMethod { get }
    /// Header fields. They win over the environment's and lose against adapters that set the same name.
    var headers: HTTPHeaders { get }
    /// The query, after that of the base URL and the environment.
    var query: URLQuery { get }
    /// The body. Default: empty.
    var body: HTTPBody { get }
    /// Parameters, which go into the query, after that of ``query``, or are the body. With a ``body`` that is a
    /// multipart form, those of a form are fields after its parts; with any other body they are an error. Default:
    /// none.
    var parameters: RequestParameters { get }
    /// How the call is authorized. Default: ``AuthorizationType/inherited``, as its service says.
    var authorizationType: AuthorizationType { get }
    /// Whether the call carries an `Idempotency-Key`, with which a server executes it once however often it is sent.
    /// Default: none.
    var idempotencyKey: IdempotencyKey { get }
    /// Settings, such as timeouts or a retry policy. They precede the service's; the call's precede them.
    var settings: RequestSettings { get }
    /// The path with a placeholder for each of its values, so that reports can count calls of one kind together: the
    /// `url.template` of OpenTelemetry. Default: `/users/{}`; write one of your own for names: `/users/{id}`.
    var urlTemplate: String { get }

    /// The error that a status means for this call; nil leaves it to the general cases.
    func error(for status: HTTPStatus) -> (any Error)?
    /// The error that problem details of the server (RFC 9457) mean for this call, asked before the status; nil
    /// leaves it to that.
    func error(for problem: ProblemDetails) -> (any Error)?
    /// The error that a failure on the way means for this call; nil leaves it to the general cases.
    func error(for code: URLError.Code) -> (any Error)?
}

/// The result type of an ``Endpoint`` whose calls name it, and the server error of a ``TypedEndpoint`` that has none.
public enum Untyped: Decodable, Sendable {
    /// Throws: it has no values.
    public init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "the endpoint names no type"))
    }
}

extension Endpoint {
    /// The path with `{}` for each interpolated value: `/users/{}`.
    public var urlTemplate: String { "/" + path.template }
    /// None of its own: the service's environment.
    public var baseURL: URL { NetworkEnvironment.noBaseURL }
    /// GET.
    public var method: HTTPMethod { .get }
    /// None.
    public var headers: HTTPHeaders { [] }
    /// None.
    public var query: URLQuery { [:] }
    /// Empty.
    public var body: HTTPBody { .empty }
    /// None.
    public var parameters: RequestParameters { .none }
    /// As the service says.
    public var authorizationType: AuthorizationType { .inherited }
    /// None.
    public var idempotencyKey: IdempotencyKey { .none }
    /// None.
    public var settings: RequestSettings { RequestSettings() }
    /// None: the general cases hold.
    public func error(for status: HTTPStatus) -> (any Error)? { nil }
    /// None: the status says it.
    public func error(for problem: ProblemDetails) -> (any Error)? { nil }
    /// None: the general cases hold.
    public func error(for code: URLError.Code) -> (any Error)? { nil }
}
