public import Foundation

/// The parameters of a call, with where they go and how they are written: the short form for endpoints that would
/// otherwise say the same in `query` and `body`.
///
/// ```swift
/// var parameters: RequestParameters { .methodDependent(["page": 2, "size": 50]) }
/// ```
public struct RequestParameters: Sendable {
    /// What it puts into the query; nil if it puts nothing there.
    let query: @Sendable (HTTPMethod) -> URLQuery?
    /// What it makes the body; nil if it makes none.
    let body: @Sendable (HTTPMethod) -> HTTPBody?
    /// What it makes fields of a form that has files, too; nil if it makes none.
    let fields: @Sendable (HTTPMethod) -> URLQuery?

    /// None.
    public static let none = RequestParameters(query: { _ in nil }, body: { _ in nil }, fields: { _ in nil })

    /// In the query.
    public static func query(
        _ value: some Encodable & Sendable, encoder: URLQueryEncoder = URLQueryEncoder()
    ) -> RequestParameters {
        RequestParameters(
            query: { _ in .encoded(value, using: encoder) }, body: { _ in nil }, fields: { _ in nil })
    }

    /// In the body, as a form.
    public static func form(
        _ value: some Encodable & Sendable, encoder: URLQueryEncoder = URLQueryEncoder()
    ) -> RequestParameters {
        RequestParameters(
            query: { _ in nil }, body: { _ in .form(value, encoder: encoder) },
            fields: { _ in .encoded(value, using: encoder) })
    }

    /// In the query with GET, HEAD and DELETE, otherwise in the body as a form.
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

    /// In the body, as JSON: see ``HTTPBody/json(_:encoder:)``.
    public static func json(
        _ value: some Encodable & Sendable, encoder: JSONEncoder? = nil
    ) -> RequestParameters {
        RequestParameters(
            query: { _ in nil }, body: { _ in .json(value, encoder: encoder) }, fields: { _ in nil })
    }
}

extension HTTPMethod {
    fileprivate var hasParametersInQuery: Bool { self == .get || self == .head || self == .delete }
}
