public import Foundation

/// The query of a URL: names and values in their order, percent-encoded as [RFC
/// 3986](https://www.rfc-editor.org/rfc/rfc3986#section-3.4) requires. The server decodes each name and value
/// to its original text, even if it contains `+`, `&`, `=` or `#`.
///
/// ```swift
/// var query: URLQuery { ["q": text, "page": page, "tag": "a", "tag": "b", "sort": order] }   // nil leaves an item out
/// ```
public struct URLQuery: Hashable, Sendable {
    /// One item: `name=value`, or the name alone if the value is nil.
    public struct Item: Hashable, Sendable {
        /// The name, not percent-encoded.
        public let name: String
        /// The value, not percent-encoded; nil for a name without `=`.
        public let value: String?

        /// Creates an item of a name and a value that are not percent-encoded.
        public init(_ name: String, _ value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// The error of a value that cannot be encoded. The call that uses the query ends with this error.
    struct Fault: Hashable, CustomStringConvertible, Sendable {
        /// The encoder's error.
        let error: any Error

        var description: String { HTTPBody.describe(error, of: "the query") }

        static func == (lhs: Fault, rhs: Fault) -> Bool { lhs.description == rhs.description }
        func hash(into hasher: inout Hasher) { hasher.combine(description) }
    }

    /// The items, in the order in which they are sent.
    public private(set) var items: [Item]
    private(set) var fault: Fault?

    /// Creates a query of items. Default: an empty query.
    public init(_ items: [Item] = []) { self.init(items, nil) }

    private init(_ items: [Item], _ fault: Fault?) { (self.items, self.fault) = (items, fault) }

    /// Creates a query of the members of a value, which is a struct or a dictionary. If the value cannot be encoded,
    /// the call that uses the query ends with ``NetworkError/Kind/invalidRequest`` before anything is sent.
    public static func encoded(_ value: some Encodable, using encoder: URLQueryEncoder = URLQueryEncoder()) -> URLQuery
    {
        do { return try encoder.encode(value) } catch { return URLQuery([], Fault(error: error)) }
    }

    /// Whether the query has no items and no error.
    package var isEmpty: Bool { items.isEmpty && fault == nil }

    /// Appends an item. A nil value appends nothing. If a number is not finite, the call that uses the query ends with
    /// an error.
    public mutating func append(_ name: String, _ value: (any LosslessStringConvertible)?) {
        guard let value else { return }
        if let number = value as? any FloatingPoint, !number.isFinite { return note(number, of: name) }
        items.append(Item(name, value.description))
    }

    private mutating func note(_ value: Any, of name: String) {
        let context = EncodingError.Context(
            codingPath: [PathKey(stringValue: name)], debugDescription: "it is not a finite number")
        fault = fault ?? Fault(error: EncodingError.invalidValue(value, context))
    }

    /// Returns the items of the left query, followed by the items of the right query.
    public static func + (lhs: URLQuery, rhs: URLQuery) -> URLQuery {
        URLQuery(lhs.items + rhs.items, lhs.fault ?? rhs.fault)
    }

    /// Merges the items of two queries by name. All items of a name are taken from one of the two queries.
    package func merging(_ other: URLQuery, _ rule: HTTPHeaders.MergeRule = .overwrite) -> URLQuery {
        let kept =
            switch rule {
            case .replaceAll: other.items
            case .overwrite: items.filter { item in !other.items.contains { $0.name == item.name } } + other.items
            case .keepExisting: items + other.items.filter { item in !items.contains { $0.name == item.name } }
            }
        return URLQuery(kept, fault ?? other.fault)
    }

    /// The percent-encoded query as it appears in a URL, without the question mark.
    public var percentEncoded: String {
        items.map { item in
            let name = PercentEncoding.encode(item.name)
            return item.value.map { "\(name)=\(PercentEncoding.encode($0))" } ?? name
        }.joined(separator: "&")
    }
}

extension URLQuery: ExpressibleByDictionaryLiteral {
    /// Creates a query of names and values in the order written. A name may occur several times. A nil value omits its
    /// item.
    public init(dictionaryLiteral elements: (String, (any LosslessStringConvertible)?)...) {
        self.init()
        for (name, value) in elements { append(name, value) }
    }
}

extension URLQuery: RedactedReflectable {
    /// The names of the items, without their values: `page, token`.
    var redactedDescription: String { items.map(\.name).joined(separator: ", ") }
}

extension URLQuery.Item: RedactedReflectable {
    /// The name, without the value.
    var redactedDescription: String { name }

    var reflectedMembers: KeyValuePairs<String, Any> { ["name": name] }
}

/// Percent-encoding of URL parts, [RFC 3986 section 2](https://www.rfc-editor.org/rfc/rfc3986#section-2).
enum PercentEncoding {
    /// Escapes every byte of the text except unreserved characters: letters, digits, `-`, `.`, `_`, `~`.
    static func encode(_ text: String) -> String {
        if text.utf8.allSatisfy(isUnreserved) { return text }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count * 2)
        for byte in text.utf8 {
            if isUnreserved(byte) { encoded.append(byte) } else { escape(byte, into: &encoded) }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Appends a byte as `%` and two hexadecimal digits.
    static func escape(_ byte: UInt8, into encoded: inout [UInt8]) {
        encoded.append(UInt8(ascii: "%"))
        encoded.append(hexDigits[Int(byte >> 4)])
        encoded.append(hexDigits[Int(byte & 15)])
    }

    /// Returns a byte as `%` and two hexadecimal digits.
    static func escaped(_ byte: UInt8) -> String {
        var encoded: [UInt8] = []
        escape(byte, into: &encoded)
        return String(decoding: encoded, as: UTF8.self)
    }

    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: HTTPGrammar.isAlphanumeric(byte)
        }
    }

    static func isHexDigit(_ byte: UInt8) -> Bool {
        hexDigits.contains(byte) || byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "f")
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}

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
