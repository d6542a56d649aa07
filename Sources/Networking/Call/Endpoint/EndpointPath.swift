public import Foundation

/// The path of an endpoint, written as a string literal.
///
/// Whatever is interpolated is one escaped segment, or part of one: an id with `/`, `?` or `..` cannot change the path.
///
/// ```swift
/// var path: EndpointPath { "users/\(id)/files/\(name)" }       // name = "a/b": users/7/files/a%2Fb
/// ```
///
/// What is written outside interpolations is taken as it stands, with its slashes; characters that no path may have are
/// escaped, and percent-escapes are kept. A segment that is `.` or `..`, one that only interpolations make and that is
/// empty, and a `?` or `#` outside of interpolations end the call with ``NetworkError/Kind/invalidRequest`` before
/// anything is sent.
public struct EndpointPath: Hashable, Sendable {
    /// What was written so far, percent-encoded.
    private var bytes: [UInt8] = []
    /// Where the last segment begins, and what it is made of.
    private var segmentStart = 0
    private var hasLiteral = false
    private var hasInterpolation = false
    /// Where the interpolations are.
    private var interpolations: [Range<Int>] = []
    private var fault: String?
    /// What follows a "?" or "#" is no part of the path, and may be secret: it is in no text.
    private var isCut = false

    /// Makes a path of segments, each escaped as a whole.
    public init(segments: [String]) {
        for (index, segment) in segments.enumerated() {
            if index > 0 { endSegment() }
            append(value: segment)
        }
    }

    /// Makes a path that ends the call for a reason.
    init(fault: String) {
        self.fault = fault
    }

    /// Makes a path of text at run time, taken as a literal is: with its slashes, and not escaped as a whole.
    public init(verbatim text: String) {
        append(literal: text)
    }

    /// The path percent-encoded, without a slash at its beginning.
    ///
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest``.
    func percentEncoded() throws -> String {
        if let fault = fault ?? faultOfSegment { throw NetworkError(.invalidRequest, reason: "path: \(fault)") }
        return String(decoding: bytes.first == EndpointPath.slash ? bytes[1...] : bytes[...], as: UTF8.self)
    }

    /// The path as a prefix of others: without slashes at either end.
    ///
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest``.
    func trimmed() throws -> String {
        let path = try percentEncoded()
        let start = path.utf8.firstIndex { $0 != EndpointPath.slash } ?? path.endIndex
        let end = path.utf8.lastIndex { $0 != EndpointPath.slash }.map { path.utf8.index(after: $0) } ?? start
        return String(path[start..<end])
    }

    /// Whether the path begins with whole segments that were written, not interpolated.
    func begins(with prefix: String) -> Bool {
        let written = interpolations.first.map { bytes[..<$0.lowerBound] } ?? bytes[...]
        let path = written.first == EndpointPath.slash ? written.dropFirst() : written
        guard path.starts(with: prefix.utf8) else { return false }
        let rest = path.dropFirst(prefix.utf8.count)
        return rest.isEmpty ? interpolations.isEmpty : rest.first == EndpointPath.slash
    }

    /// The path with `{}` in the place of each interpolation.
    var template: String {
        var template: [UInt8] = []
        var position = 0
        for interpolation in interpolations {
            template += bytes[position..<interpolation.lowerBound] + "{}".utf8
            position = interpolation.upperBound
        }
        template += bytes[position...]
        return String(decoding: template.first == EndpointPath.slash ? template[1...] : template[...], as: UTF8.self)
    }

    private static let slash = UInt8(ascii: "/")

    private mutating func reserve(_ count: Int) {
        bytes.reserveCapacity(count)
    }

    private mutating func append(value: String) {
        guard !isCut else { return }
        let start = bytes.count
        bytes += PercentEncoding.encode(value).utf8
        interpolations.append(start..<bytes.count)
        hasInterpolation = true
    }

    /// Takes text with its slashes; escapes what a path may not have, and keeps `%` with two hexadecimal digits.
    private mutating func append(literal: String) {
        guard !isCut else { return }
        bytes.reserveCapacity(bytes.count + literal.utf8.count)
        var literal = literal
        literal.withUTF8 { append(literal: $0[...]) }
    }

    private mutating func append(literal: Slice<UnsafeBufferPointer<UInt8>>) {
        var rest = literal
        while let byte = rest.first {
            rest.removeFirst()
            switch byte {
            case EndpointPath.slash:
                endSegment()
                continue
            case UInt8(ascii: "?"), UInt8(ascii: "#"):
                let mark = Character(Unicode.Scalar(byte))
                fault = fault ?? "it has a \"\(mark)\"; put the query into `query`"
                isCut = true
                return
            case UInt8(ascii: "%")
            where rest.prefix(2).count == 2 && rest.prefix(2).allSatisfy(PercentEncoding.isHexDigit):
                bytes.append(byte)
            case _ where PercentEncoding.isUnreserved(byte) || EndpointPath.isDelimiter(byte):
                bytes.append(byte)
            default:
                PercentEncoding.escape(byte, into: &bytes)
            }
            hasLiteral = true
        }
    }

    /// The characters that a path may contain in addition to unreserved ones:
    /// [RFC 3986 section 3.3](https://www.rfc-editor.org/rfc/rfc3986#section-3.3).
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        "!$&'()*+,;=:@".utf8.contains(byte)
    }

    private mutating func endSegment() {
        fault = fault ?? faultOfSegment
        bytes.append(EndpointPath.slash)
        segmentStart = bytes.count
        hasLiteral = false
        hasInterpolation = false
    }

    /// What is wrong with the last segment: an interpolation made it empty, or servers and proxies would take it for
    /// `.` or `..`.
    private var faultOfSegment: String? {
        let segment = bytes[segmentStart...]
        if hasInterpolation, !hasLiteral, segment.isEmpty { return "an interpolated segment is empty" }
        guard segment.count <= 6, segment.first == UInt8(ascii: ".") || segment.first == UInt8(ascii: "%") else {
            return nil
        }
        let text = String(decoding: segment, as: UTF8.self)
        let isDots = [".", "..", "%2e", ".%2e", "%2e.", "%2e%2e"].contains(text.lowercased())
        return isDots ? "a segment is \"\(text)\"" : nil
    }
}

extension EndpointPath: ExpressibleByStringInterpolation {
    /// Makes a path of a literal.
    public init(stringLiteral value: String) {
        self.init(verbatim: value)
    }

    /// Makes a path of a literal with interpolations.
    public init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.path
    }

    /// Collects the parts of a literal. An optional cannot be interpolated: unwrap it first.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var path = EndpointPath(segments: [])

        /// Begins a path.
        public init(literalCapacity: Int, interpolationCount: Int) {
            path.reserve(literalCapacity + interpolationCount * 16)
        }

        /// Adds text that stands outside interpolations.
        public mutating func appendLiteral(_ literal: String) {
            path.append(literal: literal)
        }

        /// Adds a value as one escaped segment, or part of one.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            path.append(value: value.description)
        }

        /// Adds an identifier, in lower case as RFC 9562 writes it.
        public mutating func appendInterpolation(_ value: UUID) {
            path.append(value: value.uuidString.lowercased())
        }

        /// Adds the raw value of an enumeration's case.
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
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}
