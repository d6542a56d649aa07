public import Foundation

/// The query of a URL: names and values in their order, percent-encoded as [RFC
/// 3986](https://www.rfc-editor.org/rfc/rfc3986#section-3.4) requires. The server decodes each name and value
/// to its original text, even if it contains `+`, `&`, `=` or `#`.
///
/// ```swift
/// var query: URLQuery { ["q": text, "page": page, "tag": "a", "tag": "b", "sort": order] }   // nil leaves an item out
/// ```
///
/// A value is a text, a number, a Boolean, a UUID, a date, a URL, or an enumeration case with a raw value. A value of
/// any other `Encodable` type is written by a ``URLQueryEncoder`` with its default settings. If a value is none of
/// these, or a number is not finite, the call that uses the query ends with ``NetworkError/Kind/invalidRequest`` before
/// anything is sent.
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

    /// Creates a query of texts, in the alphabetical order of their names.
    public init(_ values: [String: String]) {
        self.init(values.sorted { $0.key < $1.key }.map { Item($0.key, $0.value) })
    }

    /// Creates a query of pairs of a name and a text, in their order.
    public init(_ pairs: some Sequence<(String, String)>) {
        self.init(pairs.map { Item($0.0, $0.1) })
    }

    /// Creates a query of Foundation's items, in their order. An item without a value is a name alone.
    public init(_ items: some Sequence<URLQueryItem>) {
        self.init(items.map { Item($0.name, $0.value) })
    }

    /// Creates a query from percent-encoded text.
    init(percentEncoded text: String) {
        self.init(
            text.split(separator: "&").map { item in
                let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return Item(
                    PercentEncoding.decode(parts[0]), parts.count == 2 ? PercentEncoding.decode(parts[1]) : nil)
            })
    }

    /// Creates a query of the members of a value (a struct or a dictionary). If the value cannot be encoded, the call
    /// that uses the query ends with ``NetworkError/Kind/invalidRequest`` before anything is sent.
    public static func encoded(_ value: some Encodable, using encoder: URLQueryEncoder = URLQueryEncoder()) -> URLQuery
    {
        do { return try encoder.encode(value) } catch { return URLQuery([], Fault(error: error)) }
    }

    /// Whether the query has no items and no error.
    package var isEmpty: Bool { items.isEmpty && fault == nil }

    /// The text of the first item with a name; nil if there is none. Setting a value replaces all items of the name.
    /// The new item has the position of the first replaced item. Setting nil removes the items.
    public subscript(name: String) -> String? {
        get { items.first { $0.name == name }?.value }
        set { set(name, newValue) }
    }

    /// The value of the first item with a name, for values that are not texts: `query["page"] = 2`.
    @_disfavoredOverload
    public subscript(name: String) -> Any? {
        get { items.first { $0.name == name }?.value }
        set { set(name, newValue) }
    }

    private mutating func set(_ name: String, _ value: Any?) {
        var query = URLQuery()
        query.append(name, value)
        let index = items.firstIndex { $0.name == name } ?? items.endIndex
        items.removeAll { $0.name == name }
        items.insert(contentsOf: query.items, at: index)
        fault = fault ?? query.fault
    }

    /// Appends an item. A nil value appends nothing. See ``URLQuery`` for the values that can be written.
    public mutating func append(_ name: String, _ value: Any?) {
        guard let value else { return }
        do {
            if let value = try ParameterText(value) {
                items.append(Item(name, value.text))
            } else {
                items += try URLQueryEncoder().items(name, value)
            }
        } catch { fault = fault ?? Fault(error: error.at(name)) }
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
    /// Creates a query of names and values in the order written. A name may occur several times. An item whose value is
    /// nil is omitted. See ``URLQuery`` for the values that can be written.
    public init(dictionaryLiteral elements: (String, Any?)...) {
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

extension Error {
    /// Returns the error after adding the name of a query item to the path of the value that cannot be encoded.
    fileprivate func at(_ name: String) -> any Error {
        guard case EncodingError.invalidValue(let value, let context) = self as any Error else { return self }
        return EncodingError.invalidValue(
            value,
            EncodingError.Context(
                codingPath: [PathKey(stringValue: name)] + context.codingPath,
                debugDescription: context.debugDescription, underlyingError: context.underlyingError))
    }
}
