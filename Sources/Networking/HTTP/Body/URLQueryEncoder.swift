public import Foundation

/// Encodes a value as pairs of a name and a text, for the query of a URL and for the body of a form.
///
/// The defaults suit most servers: names in alphabetical order, `a[b]=` for nested members, `a[]=` for arrays, `true`
/// and `false` for Booleans. Nil is omitted. These are the defaults of Alamofire's `URLEncoding`, except for Booleans.
/// Booleans are written as in paths and in `URLQuery` literals. If the server expects `1` and `0`, set
/// `booleans: .numeric`.
///
/// ```swift
/// struct Filter: Encodable, Sendable { let tags: [String]; let isNew: Bool; let since: Date? }
///
/// var query: URLQuery { .encoded(filter, using: URLQueryEncoder(arrays: .repeated, dates: .secondsSince1970)) }
/// ```
public struct URLQueryEncoder: Sendable {
    /// The names of array elements.
    public enum Arrays: Sendable {
        /// `a[]=1&a[]=2`
        case brackets
        /// `a=1&a=2`
        case repeated
        /// `a[0]=1&a[1]=2`
        case indexed
        /// The name that the closure returns for the array's name and the index of the element.
        case custom(@Sendable (_ name: String, _ index: Int) -> String)

        func name(_ name: String, _ index: Int) -> String {
            switch self {
            case .brackets: "\(name)[]"
            case .repeated: name
            case .indexed: "\(name)[\(index)]"
            case .custom(let make): make(name, index)
            }
        }
    }

    /// The names of nested members.
    public enum Nesting: Sendable {
        /// `a[b]=1`
        case brackets
        /// `a.b=1`
        case dots
        /// The name that the closure returns for the object's name and the member's name.
        case custom(@Sendable (_ name: String, _ member: String) -> String)

        func name(_ name: String, _ member: String) -> String {
            switch self {
            case .brackets: "\(name)[\(member)]"
            case .dots: "\(name).\(member)"
            case .custom(let make): make(name, member)
            }
        }
    }

    /// The text of Booleans.
    public enum Booleans: Sendable {
        /// `1` and `0`
        case numeric
        /// `true` and `false`
        case literal

        func write(_ value: Bool) -> String {
            switch self {
            case .numeric: value ? "1" : "0"
            case .literal: value ? "true" : "false"
            }
        }
    }

    /// The text of dates.
    public enum Dates: Sendable {
        /// The encoding of `Date` itself: the number of seconds since 2001.
        case deferred
        /// `2026-11-21T14:00:00Z` (RFC 3339, in UTC)
        case iso8601
        /// The number of seconds since 1970, with a fraction if there is one.
        case secondsSince1970
        /// The number of milliseconds since 1970, rounded to an integer.
        case millisecondsSince1970
        /// The text that the closure returns.
        case custom(@Sendable (Date) throws -> String)

        func write(_ date: Date) throws -> String? {
            switch self {
            case .deferred: nil
            case .iso8601: date.formatted(.iso8601)
            case .secondsSince1970: date.timeIntervalSince1970.shortText
            case .millisecondsSince1970: (date.timeIntervalSince1970 * 1_000).rounded().shortText
            case .custom(let write): try write(date)
            }
        }
    }

    /// The text of `Data` values.
    public enum Bytes: Sendable {
        /// The encoding of `Data` itself: an array of numbers.
        case deferred
        /// The Base64 encoding.
        case base64
        /// The text that the closure returns.
        case custom(@Sendable (Data) throws -> String)

        func write(_ data: Data) throws -> String? {
            switch self {
            case .deferred: nil
            case .base64: data.base64EncodedString()
            case .custom(let write): try write(data)
            }
        }
    }

    /// The names of properties.
    public enum Keys: Sendable {
        /// The property's name without a change.
        case unchanged
        /// `oneTwo` as `one_two`
        case snakeCase
        /// The name that the closure returns: `.custom { $0.uppercased() }`.
        case custom(@Sendable (String) -> String)

        func write(_ key: String) -> String {
            switch self {
            case .unchanged: key
            case .snakeCase: Keys.snakeCase(key)
            case .custom(let write): write(key)
            }
        }

        /// Returns the words of a name in lower case, with underscores between them: `myURLProperty` becomes
        /// `my_url_property`.
        private static func snakeCase(_ key: String) -> String {
            let letters = Array(key)
            var text = ""
            for (index, letter) in letters.enumerated() {
                let isNew =
                    index > 0 && letter.isUppercase
                    && (!letters[index - 1].isUppercase || index + 1 < letters.count && letters[index + 1].isLowercase)
                if isNew, letters[index - 1] != "_" { text.append("_") }
                text += letter.lowercased()
            }
            return text
        }
    }

    /// The text of nil values.
    public enum Nils: Sendable {
        /// No item.
        case omitted
        /// `a=`
        case empty
        /// `a=null`
        case null
        /// `a`
        case flag
    }

    /// The names of array elements.
    var arrays: Arrays
    /// The names of nested members.
    var nesting: Nesting
    /// The text of Booleans.
    var booleans: Booleans
    /// The text of dates.
    var dates: Dates
    /// The text of `Data` values.
    var data: Bytes
    /// The names of properties.
    var keys: Keys
    /// The text of nil values.
    var nils: Nils
    /// Whether the names are sorted alphabetically at each level. Otherwise they have the order in which the value
    /// encodes them.
    var sortsKeys: Bool

    /// Creates an encoder. The defaults suit most servers.
    public init(
        arrays: Arrays = .brackets, nesting: Nesting = .brackets, booleans: Booleans = .literal,
        dates: Dates = .iso8601, data: Bytes = .base64, keys: Keys = .unchanged, nils: Nils = .omitted,
        sortsKeys: Bool = true
    ) {
        self.arrays = arrays
        self.nesting = nesting
        self.booleans = booleans
        self.dates = dates
        self.data = data
        self.keys = keys
        self.nils = nils
        self.sortsKeys = sortsKeys
    }

    /// Encodes a value, which must be a struct or a dictionary.
    ///
    /// - Throws: `EncodingError`, or the error of the value's `encode(to:)` or of a closure of the encoder.
    public func encode(_ value: some Encodable) throws -> URLQuery {
        guard case .object(let members) = try node(of: value) else {
            let fault = "expected a struct or a dictionary, found a value without names"
            throw EncodingError.invalidValue(value, EncodingError.Context(codingPath: [], debugDescription: fault))
        }
        var items: [URLQuery.Item] = []
        for (name, node) in ordered(members) { write(node, name, into: &items) }
        return URLQuery(items)
    }

    /// Returns the items of a member.
    ///
    /// - Parameter value: An `Encodable` value, or a value from which ``JSONValue`` can be created.
    func items(_ name: String, _ value: Any) throws -> [URLQuery.Item] {
        let node =
            if let value = value as? any Encodable { try node(of: value) } else { try node(of: JSONValue(value)) }
        var items: [URLQuery.Item] = []
        write(node, name, into: &items)
        return items
    }

    private func write(_ node: ParameterNode, _ name: String, into items: inout [URLQuery.Item]) {
        switch node {
        case .text(let text):
            items.append(URLQuery.Item(name, text))
        case .array(let elements):
            // Omitted elements are removed before indexes are assigned, so that the indexes have no gaps.
            var elements = elements
            if case .omitted = nils { elements.removeAll(where: \.isNull) }
            for (index, element) in elements.enumerated() { write(element, arrays.name(name, index), into: &items) }
        case .object(let members):
            for (member, node) in ordered(members) { write(node, nesting.name(name, member), into: &items) }
        case .nested(let writer): write(writer.node ?? .null, name, into: &items)
        case .null:
            switch nils {
            case .omitted: break
            case .empty: items.append(URLQuery.Item(name, ""))
            case .null: items.append(URLQuery.Item(name, "null"))
            case .flag: items.append(URLQuery.Item(name, nil))
            }
        }
    }

    private func ordered(
        _ members: [(key: String, node: ParameterNode)]
    ) -> [(key: String, node: ParameterNode)] {
        sortsKeys ? members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) } : members
    }
}
