public import Foundation

/// The header fields of a request or response: ordered, with names compared without regard to case.
///
/// Setting a name replaces every field under it and keeps the place of the first. Appending keeps what is there, for
/// the fields that may stand several times, such as `Set-Cookie`.
///
/// ```swift
/// var headers: HTTPHeaders = [.accept: "application/json", "X-Tenant": "acme"]
/// headers[.acceptLanguage] = "en"
/// headers.set(.contentType(.json))
/// ```
public struct HTTPHeaders: Hashable, Sendable {
    private var fields: [HTTPHeader] = []

    /// Makes an empty collection.
    public init() {}

    /// Makes a collection of fields, in their order. Fields of the same name are all kept (RFC 9110 section 5.3).
    public init(_ fields: some Sequence<HTTPHeader>) {
        self.fields = Array(fields)
    }

    /// The value under a name; where it stands several times, the values joined by `, ` (RFC 9110 section 5.3).
    ///
    /// Setting replaces every field under the name, and one that was sensitive stays so; setting nil removes them.
    public subscript(name: HTTPHeader.Name) -> String? {
        get {
            guard let first = fields.firstIndex(where: { $0.name == name }) else { return nil }
            let rest = fields[(first + 1)...].filter { $0.name == name }
            return rest.isEmpty
                ? fields[first].value : ([fields[first]] + rest).map(\.value).joined(separator: ", ")
        }
        set {
            guard let newValue else { return remove(name) }
            let isSensitive = fields.contains { $0.name == name && $0.isSensitive }
            set(isSensitive ? HTTPHeader(name, newValue, isSensitive: true) : HTTPHeader(name, newValue))
        }
    }

    /// Every value under a name, in order.
    public func values(for name: HTTPHeader.Name) -> [String] {
        fields.filter { $0.name == name }.map(\.value)
    }

    /// Whether a field stands under the name.
    public func contains(_ name: HTTPHeader.Name) -> Bool {
        fields.contains { $0.name == name }
    }

    /// Puts the field in the place of every field under its name, or at the end.
    public mutating func set(_ field: HTTPHeader) {
        guard let first = fields.firstIndex(where: { $0.name == field.name }) else { return fields.append(field) }
        fields[first] = field
        var index = fields.count - 1
        while index > first {
            if fields[index].name == field.name { fields.remove(at: index) }
            index -= 1
        }
    }

    /// Adds the field at the end and keeps those under the same name.
    public mutating func append(_ field: HTTPHeader) {
        fields.append(field)
    }

    /// Makes place for so many fields.
    mutating func reserveCapacity(_ count: Int) {
        fields.reserveCapacity(count)
    }

    /// Removes every field under the name.
    public mutating func remove(_ name: HTTPHeader.Name) {
        fields.removeAll { $0.name == name }
    }

    /// Removes every field for which the closure says so.
    package mutating func removeAll(where shouldRemove: (HTTPHeader) -> Bool) {
        fields.removeAll(where: shouldRemove)
    }

    /// Merges another collection into this one, name by name.
    public mutating func merge(_ other: HTTPHeaders, _ rule: MergeRule = .overwrite) {
        switch rule {
        case .replaceAll:
            self = other
        case .keepExisting:
            let present = fields
            for field in other.fields where !present.contains(where: { $0.name == field.name }) { append(field) }
        case .overwrite:
            for (index, field) in other.fields.enumerated() {
                let isFirst = !other.fields[..<index].contains { $0.name == field.name }
                if isFirst { set(field) } else { append(field) }
            }
        }
    }

    /// A collection merged with another one, name by name.
    public func merging(_ other: HTTPHeaders, _ rule: MergeRule = .overwrite) -> HTTPHeaders {
        var merged = self
        merged.merge(other, rule)
        return merged
    }

    /// How two collections become one.
    public enum MergeRule: Sendable {
        /// The new collection takes the place of the old one.
        case replaceAll
        /// On equal names the new values count.
        case overwrite
        /// On equal names the old values stay.
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
    /// Makes a collection of names and values, in the order written; a later one replaces an earlier one of its name.
    public init(dictionaryLiteral elements: (HTTPHeader.Name, String)...) {
        for (name, value) in elements { set(HTTPHeader(name, value)) }
    }

    /// Makes a collection of fields, in the order written. Fields of the same name are all kept.
    public init(arrayLiteral elements: HTTPHeader...) {
        self.init(elements)
    }
}

extension HTTPHeaders: CustomStringConvertible {
    /// One field a line, credentials redacted.
    public var description: String { fields.map(\.description).joined(separator: "\n") }
}

/// Typed views of common fields.
extension HTTPHeaders {
    /// `Authorization`; nil if there is none or it cannot be read.
    public var authorization: HTTPAuthorization? {
        get { self[.authorization].flatMap { HTTPAuthorization($0) } }
        set { self[.authorization] = newValue?.fieldValue }
    }

    /// `Content-Type`; nil if there is none or it cannot be read.
    public var contentType: MediaType? {
        get { self[.contentType].flatMap { MediaType($0) } }
        set { self[.contentType] = newValue?.description }
    }

    /// `Accept`; empty if there is none or nothing in it can be read. What it refuses, with `q=0`, is not among
    /// them.
    public var accept: [MediaType] {
        get { HTTPHeaders.elements(of: self[.accept] ?? "").compactMap { MediaType($0) }.filter { !$0.isRefused } }
        set { self[.accept] = newValue.isEmpty ? nil : newValue.map(\.description).joined(separator: ", ") }
    }

    /// The elements of a list, [RFC 9110 section 5.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.1): a
    /// comma in quotation marks is none.
    private static func elements(of list: String) -> [String] {
        var elements = [""]
        var (isQuoted, isEscaped) = (false, false)
        for character in list {
            if character == ",", !isQuoted {
                elements.append("")
                continue
            }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && character == "\\" && !isEscaped
            elements[elements.count - 1].append(character)
        }
        return elements
    }

    /// `Content-Length`; nil if there is none or it is no number.
    public var contentLength: Int? {
        get { self[.contentLength].flatMap { Int($0) } }
        set { self[.contentLength] = newValue.map(String.init) }
    }

    /// The challenges of `WWW-Authenticate`, from every field of that name.
    public var challenges: [HTTPHeaders.Challenge] {
        values(for: .wwwAuthenticate).flatMap { HTTPHeaders.Challenge.parse($0) }
    }

    /// The delay of `Retry-After` (RFC 9110 section 10.2.3) from a time on: zero to a year; nil if the field is missing
    /// or cannot be read.
    public func retryDelay(from now: Date) -> Duration? {
        retryAfter?.delay(from: now)
    }

    /// `Retry-After`; nil if it is missing or cannot be read.
    var retryAfter: RetryAfter? {
        self[.retryAfter].flatMap { RetryAfter($0) }
    }

    /// `Date` (RFC 9110 section 6.6.1), in whole seconds; nil if it is missing or cannot be read.
    public var date: Date? {
        self[.date].flatMap { HTTPDate($0)?.date }
    }
}

extension MediaType {
    /// Whether a range in `Accept` says that it is not wanted (RFC 9110 section 12.4.2).
    fileprivate var isRefused: Bool { parameters.contains { $0.name.lowercased() == "q" && Double($0.value) == 0 } }
}
