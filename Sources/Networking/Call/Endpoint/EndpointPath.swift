public import Foundation

/// The path of an endpoint, written as a string literal.
///
/// An interpolated value is one percent-encoded segment or a part of a segment, so an id that contains `/`, `?` or `..`
/// cannot change the other segments or the query.
///
/// ```swift
/// var path: EndpointPath { "users/\(id)/files/\(name)" }       // name = "a/b": users/7/files/a%2Fb
/// var path: EndpointPath { "repos/\(path: fullName)" }          // fullName = "apple/swift": repos/apple/swift
/// ```
///
/// Literal text keeps its slashes and its percent-escapes. Only characters that a path may not contain are
/// percent-encoded. These faults end the call with ``NetworkError/Kind/invalidRequest`` before a request is sent: a
/// segment `.` or `..`, a segment whose interpolated values are all empty and that has no literal text, and a `?` or
/// `#` in literal text.
public struct EndpointPath: Hashable, Sendable {
    /// The path so far, percent-encoded. A short literal needs no memory of its own.
    private var text = ""
    /// The start of the last segment in `text.utf8`. The next two flags say whether the segment contains literal text
    /// and interpolated values.
    private var segmentStart = 0
    private var hasLiteral = false
    private var hasInterpolation = false
    /// The ranges of the interpolated values in `text.utf8`.
    private var interpolations: [Range<Int>] = []
    private var fault: String?
    /// Whether the text was cut at a `?` or `#`. The rest is not part of the path and may be secret, so no error
    /// or description contains it.
    private var isCut = false

    /// Creates a path from segments, each percent-encoded as a whole.
    public init(segments: [String]) {
        for (index, segment) in segments.enumerated() {
            if index > 0 { endSegment() }
            append(value: segment)
        }
    }

    /// Creates an invalid path. A call with this path ends with an error that states the fault.
    init(fault: String) {
        self.fault = fault
    }

    /// Creates a path from text that is known only at run time. The text is treated like a literal: it keeps its
    /// slashes and is not percent-encoded as a whole.
    public init(verbatim text: String) {
        append(literal: text)
    }

    /// Returns the percent-encoded path, without a slash at its start.
    ///
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest``.
    func percentEncoded() throws -> String {
        if let fault = fault ?? faultOfSegment { throw NetworkError(.invalidRequest, reason: "path: \(fault)") }
        return EndpointPath.withoutFirstSlash(text)
    }

    /// Returns the path as a prefix of other paths, without slashes at its start and end.
    ///
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest``.
    func trimmed() throws -> String {
        let path = try percentEncoded()
        let start = path.utf8.firstIndex { $0 != EndpointPath.slash } ?? path.endIndex
        let end = path.utf8.lastIndex { $0 != EndpointPath.slash }.map { path.utf8.index(after: $0) } ?? start
        return String(path[start..<end])
    }

    var endsWithSlash: Bool { text.utf8.last == EndpointPath.slash }

    /// Whether the path begins with all segments of a prefix, and these segments are literal text.
    func begins(with prefix: String) -> Bool {
        let written = text.utf8.prefix(interpolations.first?.lowerBound ?? .max)
        let path = written.first == EndpointPath.slash ? written.dropFirst() : written
        guard path.starts(with: prefix.utf8) else { return false }
        let rest = path.dropFirst(prefix.utf8.count)
        return rest.isEmpty ? interpolations.isEmpty : rest.first == EndpointPath.slash
    }

    /// The path with `{}` in place of each interpolated value.
    var template: String {
        var template = ""
        var position = 0
        for interpolation in interpolations {
            template += part(position..<interpolation.lowerBound) + "{}"
            position = interpolation.upperBound
        }
        return EndpointPath.withoutFirstSlash(template + part(position..<text.utf8.count))
    }

    /// Returns a part of the text, which is ASCII.
    private func part(_ range: Range<Int>) -> Substring {
        Substring(text.utf8.dropFirst(range.lowerBound).prefix(range.count))
    }

    private static func withoutFirstSlash(_ text: String) -> String {
        text.utf8.first == slash ? String(text.utf8.dropFirst()) ?? text : text
    }

    private static let slash = UInt8(ascii: "/")

    private mutating func append(value: String) {
        guard !isCut else { return }
        let start = text.utf8.count
        text += PercentEncoding.encode(value)
        interpolations.append(start..<text.utf8.count)
        hasInterpolation = true
    }

    /// Appends a value whose slashes separate segments.
    private mutating func append(segments value: String) {
        guard !isCut else { return }
        let start = text.utf8.count
        for (index, segment) in value.split(separator: "/", omittingEmptySubsequences: false).enumerated() {
            if index > 0 { endSegment() }
            text += PercentEncoding.encode(String(segment))
            hasInterpolation = true
        }
        interpolations.append(start..<text.utf8.count)
    }

    /// Appends text. Its slashes still separate segments. Percent-encodes the characters that a path may not contain,
    /// and preserves `%` with two hexadecimal digits.
    private mutating func append(literal: String) {
        guard !isCut else { return }
        if !literal.isEmpty, literal.utf8.allSatisfy(EndpointPath.isPlain) {
            text += literal
            hasLiteral = true
            return
        }
        var literal = literal
        literal.withUTF8 { append(literal: $0[...]) }
    }

    private mutating func append(literal: Slice<UnsafeBufferPointer<UInt8>>) {
        var rest = literal
        while let byte = rest.first {
            let plain = rest.prefix(while: EndpointPath.isPlain)
            rest = rest[max(plain.endIndex, rest.startIndex + 1)...]
            switch byte {
            case _ where !plain.isEmpty:
                text += String(decoding: plain, as: UTF8.self)
            case EndpointPath.slash:
                endSegment()
                continue
            case UInt8(ascii: "?"), UInt8(ascii: "#"):
                let mark = Character(Unicode.Scalar(byte))
                fault = fault ?? "the literal text contains \"\(mark)\"; write a query in `query`, not in the path"
                isCut = true
                return
            case UInt8(ascii: "%")
            where rest.prefix(2).count == 2 && rest.prefix(2).allSatisfy(PercentEncoding.isHexDigit):
                text += "%"
            default:
                text += PercentEncoding.escaped(byte)
            }
            hasLiteral = true
        }
    }

    /// Whether a path segment may contain a byte that is not percent-encoded: an unreserved character or a delimiter
    /// ([RFC 3986 section 3.3](https://www.rfc-editor.org/rfc/rfc3986#section-3.3)).
    private static func isPlain(_ byte: UInt8) -> Bool {
        PercentEncoding.isUnreserved(byte) || "!$&'()*+,;=:@".utf8.contains(byte)
    }

    private mutating func endSegment() {
        fault = fault ?? faultOfSegment
        text += "/"
        segmentStart = text.utf8.count
        hasLiteral = false
        hasInterpolation = false
    }

    /// The fault of the last segment; nil if the segment has no fault. A segment has a fault if it has no literal text
    /// and its interpolated values are empty. It also has a fault if servers and proxies would treat it as `.` or `..`.
    private var faultOfSegment: String? {
        let count = text.utf8.count - segmentStart
        if hasInterpolation, !hasLiteral, count == 0 { return "an interpolated segment is empty" }
        let first = text.utf8.suffix(count).first
        guard count <= 6, first == UInt8(ascii: ".") || first == UInt8(ascii: "%") else { return nil }
        let segment = part(segmentStart..<text.utf8.count)
        let isDots = [".", "..", "%2e", ".%2e", "%2e.", "%2e%2e"].contains(segment.lowercased())
        return isDots ? "a segment is \"\(segment)\"" : nil
    }
}

extension EndpointPath: ExpressibleByStringInterpolation {
    /// Creates a path from a literal.
    public init(stringLiteral value: String) {
        self.init(verbatim: value)
    }

    /// Creates a path from a literal with interpolations.
    public init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.path
    }

    /// The parts of a literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var path = EndpointPath(segments: [])

        /// Creates an empty path.
        public init(literalCapacity: Int, interpolationCount: Int) {
            path.text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        /// Appends literal text.
        public mutating func appendLiteral(_ literal: String) {
            path.append(literal: literal)
        }

        /// Appends a value as one percent-encoded segment or a part of a segment.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            path.append(value: value.description)
        }

        /// Appends the segments of a text: its slashes separate segments, and each segment is percent-encoded. A
        /// segment that is empty, `.` or `..` is an error. In ``Endpoint/urlTemplate``, the whole text is one
        /// placeholder.
        public mutating func appendInterpolation(path value: some StringProtocol) {
            path.append(segments: String(value))
        }

        /// Reports that an optional cannot be a part of a path.
        @available(*, unavailable, message: "expected a value, found an optional: unwrap it first")
        public mutating func appendInterpolation<Value>(_ value: Value?) {}

        /// Appends a UUID in lower case, as in RFC 9562.
        public mutating func appendInterpolation(_ value: UUID) {
            path.append(value: ParameterText(value).text)
        }

        /// Appends the raw value of an enumeration case.
        @_disfavoredOverload
        public mutating func appendInterpolation<Raw: RawRepresentable>(
            _ value: Raw
        ) where Raw.RawValue: LosslessStringConvertible {
            path.append(value: value.rawValue.description)
        }
    }
}

extension EndpointPath: CustomStringConvertible {
    /// The path as it is sent, percent-encoded.
    public var description: String { text }
}
