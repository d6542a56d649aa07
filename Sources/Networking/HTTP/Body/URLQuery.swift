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
