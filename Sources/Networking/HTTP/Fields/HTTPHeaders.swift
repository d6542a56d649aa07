/// The header fields of a request or response. They are ordered, and their names are compared without regard to case.
///
/// Setting a field replaces all fields of the same name. The new field has the position of the first replaced field.
/// Appending a field keeps the existing fields of the same name. Append fields that may occur several times, such as
/// `Set-Cookie`.
///
/// ```swift
/// var headers: HTTPHeaders = [.accept: "application/json", "X-Tenant": "acme"]
/// headers[.acceptLanguage] = "en"
/// headers.set(.contentType(.json))
/// ```
public struct HTTPHeaders: Hashable, Sendable {
    /// The largest number of fields of a response. libcurl has had a limit of 5,000 since version 8.6.
    static let largestCount = 4_096

    private var fields: [HTTPHeader] = []

    /// Creates an empty collection.
    public init() {}

    /// Creates a collection of fields. The collection keeps their order, and retains all fields of the same name (RFC
    /// 9110 section 5.3).
    public init(_ fields: some Sequence<HTTPHeader>) {
        self.fields = Array(fields)
    }

    /// Creates a collection of names and values, in the alphabetical order of the names.
    public init(_ values: [String: String]) {
        self.init(values.sorted { $0.key < $1.key }.map { HTTPHeader(HTTPHeader.Name($0.key), $0.value) })
    }

    /// The value of a name. If several fields have this name, their values are joined by `, ` (RFC 9110 section 5.3).
    ///
    /// Setting a value replaces all fields of this name. The new field is sensitive if one of the replaced fields was
    /// sensitive. Setting nil removes the fields.
    public subscript(name: HTTPHeader.Name) -> String? {
        get {
            guard let first = index(of: name) else { return nil }
            let rest = fields[(first + 1)...].filter { $0.name == name }
            return rest.isEmpty ? fields[first].value : ([fields[first]] + rest).map(\.value).joined(separator: ", ")
        }
        set {
            guard let newValue else { return remove(name) }
            let isSensitive = fields.contains { $0.name == name && $0.isSensitive }
            set(isSensitive ? HTTPHeader(name, newValue, isSensitive: true) : HTTPHeader(name, newValue))
        }
    }

    /// Returns the values of all fields of a name, in order.
    public func values(for name: HTTPHeader.Name) -> [String] {
        fields.filter { $0.name == name }.map(\.value)
    }

    /// Returns whether there is a field of this name.
    public func contains(_ name: HTTPHeader.Name) -> Bool {
        index(of: name) != nil
    }

    /// Returns the position of the first field of a name. The fields are not copied, because each request is searched
    /// for several names, and a field has several references.
    private func index(of name: HTTPHeader.Name) -> Int? {
        fields.withUnsafeBufferPointer { fields in
            for index in fields.indices where fields[index].name == name { return index }
            return nil
        }
    }

    /// Replaces all fields of the same name. The new field has the position of the first replaced field. If no field
    /// has this name, appends the new field.
    public mutating func set(_ field: HTTPHeader) {
        guard let first = index(of: field.name) else { return fields.append(field) }
        // If a field is set to its current value, it keeps its source.
        if case .any = field.source, fields[first] == field {} else { fields[first] = field }
        var index = fields.count - 1
        while index > first {
            if fields[index].name == field.name { fields.remove(at: index) }
            index -= 1
        }
    }

    /// Appends the field and keeps the existing fields of the same name.
    public mutating func append(_ field: HTTPHeader) {
        fields.append(field)
    }

    /// Calls a closure with the fields, which are not copied.
    func withFields<Result>(_ body: (UnsafeBufferPointer<HTTPHeader>) throws -> Result) rethrows -> Result {
        try fields.withUnsafeBufferPointer(body)
    }

    /// Returns the same fields with another source.
    func from(_ source: HTTPHeader.Source) -> HTTPHeaders {
        fields.isEmpty ? self : HTTPHeaders(fields.map { $0.from(source) })
    }

    /// Returns the same fields. A field that `other` also contains gets its source from `other`.
    func withSources(of other: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(fields.map { field in other.fields.first { $0 == field } ?? field })
    }

    /// Reserves storage for a number of fields.
    mutating func reserveCapacity(_ count: Int) {
        fields.reserveCapacity(count)
    }

    /// Removes all fields of this name.
    public mutating func remove(_ name: HTTPHeader.Name) {
        fields.removeAll { $0.name == name }
    }

    /// Removes all fields for which the closure returns true.
    package mutating func removeAll(where shouldRemove: (HTTPHeader) -> Bool) {
        fields.removeAll(where: shouldRemove)
    }

    /// Merges another collection into this collection, name by name. Default: values of `other` overwrite existing
    /// values.
    public mutating func merge(_ other: HTTPHeaders, _ rule: MergeRule = .overwrite) {
        switch rule {
        case .replaceAll:
            self = other
        case .keepExisting:
            let count = fields.count
            for field in other.fields where !fields[..<count].contains(where: { $0.name == field.name }) {
                append(field)
            }
        case .overwrite where other.fields.count > 32:
            overwriteMany(other.fields)
        case .overwrite:
            let new = other.fields
            for index in new.indices {
                let isFirst = new.firstIndex { $0.name == new[index].name } == index
                if isFirst { set(new[index]) } else { append(new[index]) }
            }
        }
    }

    /// Overwrites fields as ``merge(_:_:)`` does, in linear time. For a few fields, comparing all of them is faster.
    private mutating func overwriteMany(_ new: [HTTPHeader]) {
        let firsts = Dictionary(new.map { ($0.name, $0) }) { first, _ in first }
        var placed: Set<HTTPHeader.Name> = []
        var result: [HTTPHeader] = []
        for field in fields {
            guard let first = firsts[field.name] else {
                result.append(field)
                continue
            }
            guard placed.insert(field.name).inserted else { continue }
            if case .any = first.source, field == first { result.append(field) } else { result.append(first) }
        }
        // The first field of each name in `placed` is already in `result`.
        for field in new where placed.remove(field.name) == nil { result.append(field) }
        fields = result
    }

    /// Returns this collection merged with another collection, name by name. Default: values of `other` overwrite
    /// existing values.
    public func merging(_ other: HTTPHeaders, _ rule: MergeRule = .overwrite) -> HTTPHeaders {
        var merged = self
        merged.merge(other, rule)
        return merged
    }

    /// The rule by which two collections are merged.
    public enum MergeRule: Sendable {
        /// The new collection replaces the old collection completely.
        case replaceAll
        /// If both collections contain a name, the new values are used.
        case overwrite
        /// If both collections contain a name, the old values are used.
        case keepExisting
    }
}

extension HTTPHeaders: RandomAccessCollection {
    /// The first position.
    public var startIndex: Int { fields.startIndex }
    /// The position after the last field.
    public var endIndex: Int { fields.endIndex }
    /// The field at a position.
    public subscript(position: Int) -> HTTPHeader { fields[position] }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// Creates a collection of names and values, in the order written. If a name occurs twice, the later value is used.
    public init(dictionaryLiteral elements: (HTTPHeader.Name, String)...) {
        for (name, value) in elements { set(HTTPHeader(name, value)) }
    }

    /// Creates a collection of fields, in the order written. It retains all fields of the same name.
    public init(arrayLiteral elements: HTTPHeader...) {
        self.init(elements)
    }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The fields, one per line. `<redacted>` replaces values that may be secret, and the secret parts of URLs.
    public var description: String { fields.map(\.description).joined(separator: "\n") }
}
