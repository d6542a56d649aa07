public import Foundation

/// Writes encodable values as names and values: for the query of a URL, and for the body of a form.
///
/// Without further ado it writes as most servers read, and as Alamofire's `URLEncoding` does: names in alphabetical
/// order, `a[b]=` for what is nested, `a[]=` for arrays, `1` and `0` for booleans; nil is left out.
///
/// ```swift
/// struct Filter: Encodable, Sendable { let tags: [String]; let isNew: Bool; let since: Date? }
///
/// var query: URLQuery { .encoded(filter, using: URLQueryEncoder(arrays: .repeated, booleans: .literal)) }
/// ```
public struct URLQueryEncoder: Sendable {
    /// How the elements of arrays are named.
    public enum Arrays: Sendable {
        /// `a[]=1&a[]=2`
        case brackets
        /// `a=1&a=2`
        case repeated
        /// `a[0]=1&a[1]=2`
        case indexed
        /// As the closure says, which is given the array's name and the index.
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

    /// How members of objects are named.
    public enum Nesting: Sendable {
        /// `a[b]=1`
        case brackets
        /// `a.b=1`
        case dots
        /// As the closure says, which is given the object's name and the member's.
        case custom(@Sendable (_ name: String, _ member: String) -> String)

        func name(_ name: String, _ member: String) -> String {
            switch self {
            case .brackets: "\(name)[\(member)]"
            case .dots: "\(name).\(member)"
            case .custom(let make): make(name, member)
            }
        }
    }

    /// How booleans are written.
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

    /// How dates are written.
    public enum Dates: Sendable {
        /// As their type says: a number of seconds since 2001.
        case deferred
        /// `2026-11-21T14:00:00Z` (RFC 3339, in UTC)
        case iso8601
        /// Seconds since 1970, with a fraction where there is one.
        case secondsSince1970
        /// Milliseconds since 1970.
        case millisecondsSince1970
        /// As the closure says.
        case custom(@Sendable (Date) throws -> String)

        func write(_ date: Date) throws -> String? {
            switch self {
            case .deferred: nil
            case .iso8601: date.formatted(.iso8601)
            case .secondsSince1970: Dates.number(date.timeIntervalSince1970)
            case .millisecondsSince1970: Dates.number((date.timeIntervalSince1970 * 1_000).rounded())
            case .custom(let write): try write(date)
            }
        }

        private static func number(_ value: Double) -> String {
            Int(exactly: value).map { "\($0)" } ?? "\(value)"
        }
    }

    /// How bytes are written.
    public enum Bytes: Sendable {
        /// As their type says: an array of numbers.
        case deferred
        /// In base64.
        case base64
        /// As the closure says.
        case custom(@Sendable (Data) throws -> String)

        func write(_ data: Data) throws -> String? {
            switch self {
            case .deferred: nil
            case .base64: data.base64EncodedString()
            case .custom(let write): try write(data)
            }
        }
    }

    /// How the names of properties are written.
    public enum Keys: Sendable {
        /// As they are.
        case unchanged
        /// `oneTwo` as `one_two`
        case snakeCase
        /// As the closure returns them: `.custom { $0.uppercased() }`.
        case custom(@Sendable (String) -> String)

        func write(_ key: String) -> String {
            switch self {
            case .unchanged: key
            case .snakeCase: Keys.snakeCase(key)
            case .custom(let write): write(key)
            }
        }

        /// The words of a name in lower case, with underscores between them: `myURLProperty` has three.
        private static func snakeCase(_ key: String) -> String {
            let letters = Array(key)
            var text = ""
            for (index, letter) in letters.enumerated() {
                let isNew =
                    index > 0 && letter.isUppercase
                    && (!letters[index - 1].isUppercase
                        || index + 1 < letters.count && letters[index + 1].isLowercase)
                if isNew, letters[index - 1] != "_" { text.append("_") }
                text += letter.lowercased()
            }
            return text
        }
    }

    /// What is written for nil.
    public enum Nils: Sendable {
        /// Nothing.
        case omitted
        /// `a=`
        case empty
        /// `a=null`
        case null
        /// `a`
        case flag
    }

    /// How the elements of arrays are named.
    var arrays: Arrays
    /// How members of objects are named.
    var nesting: Nesting
    /// How booleans are written.
    var booleans: Booleans
    /// How dates are written.
    var dates: Dates
    /// How bytes are written.
    var data: Bytes
    /// How the names of properties are written.
    var keys: Keys
    /// What is written for nil.
    var nils: Nils
    /// Whether names stand in alphabetical order, at each level; otherwise in the order in which the value encodes
    /// them.
    var sortsKeys: Bool

    /// Makes an encoder.
    public init(
        arrays: Arrays = .brackets, nesting: Nesting = .brackets, booleans: Booleans = .numeric,
        dates: Dates = .iso8601,
        data: Bytes = .base64, keys: Keys = .unchanged, nils: Nils = .omitted, sortsKeys: Bool = true
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

    /// Writes a value, which has to be an object: a struct, a dictionary.
    ///
    /// - Throws: `EncodingError`, and what the value and the closures of the encoder throw.
    public func encode(_ value: some Encodable) throws -> URLQuery {
        guard case .object(let members) = try ParameterNodeEncoder(strategies: self).encode(value) else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: [], debugDescription: "it has no names: it is neither a struct nor a dictionary"))
        }
        var items: [URLQuery.Item] = []
        for (name, node) in ordered(members) { write(node, name, into: &items) }
        return URLQuery(items)
    }

    private func write(_ node: ParameterNode, _ name: String, into items: inout [URLQuery.Item]) {
        switch node {
        case .text(let text):
            items.append(URLQuery.Item(name, text))
        case .array(let elements):
            for (index, element) in elements.enumerated() { write(element, arrays.name(name, index), into: &items) }
        case .object(let members):
            for (member, node) in ordered(members) { write(node, nesting.name(name, member), into: &items) }
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
