/// The parameters of a call, and their place and format in the request. Use this type as a short form of an endpoint's
/// `query` or `body`.
///
/// ```swift
/// var parameters: RequestParameters { .methodDependent(["page": 2, "size": 50]) }
/// ```
public struct RequestParameters: Sendable {
    /// Returns the items for the query; nil if there are none.
    private(set) var query: @Sendable (HTTPMethod) -> URLQuery? = { _ in nil }
    /// Returns the body; nil if the parameters are not sent in the body.
    private(set) var body: @Sendable (HTTPMethod) -> HTTPBody? = { _ in nil }
    /// Returns the fields for a form that also contains files; nil if there are none.
    private(set) var fields: @Sendable (HTTPMethod) -> URLQuery? = { _ in nil }

    /// No parameters.
    public static let none = RequestParameters()

    /// Sends names and values in the query, in their order: `.query(["q": text, "page": page])`.
    @_disfavoredOverload
    public static func query(_ items: URLQuery) -> RequestParameters { RequestParameters(query: { _ in items }) }

    /// Sends names and values in the body, as a form, in their order.
    @_disfavoredOverload
    public static func form(_ items: URLQuery) -> RequestParameters {
        RequestParameters(body: { _ in .form(items) }, fields: { _ in items })
    }

    /// Sends names and values in the query for GET, HEAD and DELETE, otherwise in the body as a form.
    @_disfavoredOverload
    public static func methodDependent(_ items: URLQuery) -> RequestParameters {
        methodDependent(query: .query(items), form: .form(items))
    }

    /// Sends an object in the body as JSON. See `HTTPBody.json(_:contentType:encoder:)`.
    @_disfavoredOverload
    public static func json(
        _ members: [String: (any Encodable & Sendable)?], encoder: (any BodyEncoder)? = nil
    ) -> RequestParameters {
        RequestParameters(body: { _ in .json(members, encoder: encoder) })
    }

    /// Sends the parameters in the query.
    public static func query(
        _ value: some Encodable & Sendable, encoder: URLQueryEncoder = URLQueryEncoder()
    ) -> RequestParameters {
        RequestParameters(query: { _ in .encoded(value, using: encoder) })
    }

    /// Sends the parameters in the body, as a form.
    public static func form(
        _ value: some Encodable & Sendable, encoder: URLQueryEncoder = URLQueryEncoder()
    ) -> RequestParameters {
        RequestParameters(
            body: { _ in .form(value, encoder: encoder) }, fields: { _ in .encoded(value, using: encoder) })
    }

    /// Sends the parameters in the query for GET, HEAD and DELETE, otherwise in the body as a form.
    public static func methodDependent(
        _ value: some Encodable & Sendable, encoder: URLQueryEncoder = URLQueryEncoder()
    ) -> RequestParameters {
        methodDependent(query: .query(value, encoder: encoder), form: .form(value, encoder: encoder))
    }

    private static func methodDependent(query: RequestParameters, form: RequestParameters) -> RequestParameters {
        RequestParameters(
            query: { $0.hasParametersInQuery ? query.query($0) : nil },
            body: { $0.hasParametersInQuery ? nil : form.body($0) },
            fields: { $0.hasParametersInQuery ? nil : form.fields($0) })
    }

    /// Sends the parameters in the body as JSON. See `HTTPBody.json(_:contentType:encoder:)`.
    public static func json(_ value: some Encodable & Sendable, encoder: (any BodyEncoder)? = nil) -> RequestParameters
    {
        RequestParameters(body: { _ in .json(value, encoder: encoder) })
    }
}

extension HTTPMethod {
    fileprivate var hasParametersInQuery: Bool { self == .get || self == .head || self == .delete }
}
