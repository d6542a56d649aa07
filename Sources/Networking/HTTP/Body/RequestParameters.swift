public import Foundation

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
        let query = RequestParameters.query(value, encoder: encoder)
        let form = RequestParameters.form(value, encoder: encoder)
        return RequestParameters(
            query: { $0.hasParametersInQuery ? query.query($0) : nil },
            body: { $0.hasParametersInQuery ? nil : form.body($0) },
            fields: { $0.hasParametersInQuery ? nil : form.fields($0) })
    }

    /// Sends the parameters in the body as JSON. See ``HTTPBody/json(_:encoder:)``.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> RequestParameters {
        RequestParameters(body: { _ in .json(value, encoder: encoder) })
    }
}

extension HTTPMethod {
    fileprivate var hasParametersInQuery: Bool { self == .get || self == .head || self == .delete }
}
