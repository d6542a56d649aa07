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

/// The structure of an encodable value, which ``URLQueryEncoder`` writes as names and values.
indirect enum ParameterNode {
    case null
    case text(String)
    case array([ParameterNode])
    case object([(key: String, node: ParameterNode)])
    /// The value that a nested container writes. It may still change until all parameters have been written.
    case nested(ParameterWriter)
}

extension URLQueryEncoder {
    /// Returns the structure of a value.
    func node(of value: some Encodable, at path: [any CodingKey] = []) throws -> ParameterNode {
        if let node = try special(value) { return node }
        let writer = ParameterWriter(strategies: self, codingPath: path)
        try value.encode(to: writer)
        return writer.node ?? .null
    }

    /// Returns the node of a date, data, a URL or a decimal, whose own `encode(to:)` is not used. Returns nil for a
    /// value of any other type.
    private func special(_ value: some Encodable) throws -> ParameterNode? {
        switch value {
        case let date as Date: try dates.write(date).map { .text($0) }
        case let data as Data: try self.data.write(data).map { .text($0) }
        case let url as URL: .text(url.absoluteString)
        case let decimal as Decimal: .text("\(decimal)")
        default: nil
        }
    }
}
