public import Foundation

/// The path of an endpoint, written as a string literal.
///
/// Whatever is interpolated is one escaped segment, or part of one: an id with `/`, `?` or `..` cannot change the path.
///
/// ```swift
/// var path: EndpointPath { "users/\(id)/files/\(name)" }       // name = "a/b": users/7/files/a%2Fb
/// ```
///
/// What is written outside interpolations is taken as it stands, with its slashes; characters that no path may have are escaped,
/// and percent-escapes are kept. A segment that is `.` or `..`, one that only interpolations make and that is empty, and a `?` or `#`
/// outside of interpolations end the call with ``NetworkError/Kind/invalidRequest`` before anything is sent.
public struct EndpointPath: Hashable, Sendable {
    private struct Segment: Hashable, Sendable {
        var text = ""
        var hasLiteral = false
        var hasInterpolation = false

        /// Whether servers and proxies would take it for `.` or `..`, escaped or not.
        var isDots: Bool {
            guard text.utf8.count <= 6, text.utf8.first == UInt8(ascii: ".") || text.utf8.first == UInt8(ascii: "%")
            else {
                return false
            }
            return [".", "..", "%2e", ".%2e", "%2e.", "%2e%2e"].contains(text.lowercased())
        }
    }

    private var segments = [Segment()]
    private var fault: String?

    /// Makes a path of segments, each escaped as a whole.
    public init(segments: [String]) {
        self.segments = []
        for segment in segments {
            self.segments.append(Segment())
            append(value: segment)
        }
    }

    /// Makes a path of text at run time, taken as a literal is: with its slashes, and not escaped as a whole.
    public init(verbatim text: String) {
        append(literal: text)
    }

    /// The path percent-encoded, without a slash at its beginning.
    ///
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest``.
    func percentEncoded() throws -> String {
        if let fault { throw NetworkError(.invalidRequest, reason: "path: \(fault)") }
        for segment in segments {
            if segment.hasInterpolation, !segment.hasLiteral, segment.text.isEmpty {
                throw NetworkError(.invalidRequest, reason: "path: an interpolated segment is empty")
            }
            if segment.isDots { throw NetworkError(.invalidRequest, reason: "path: a segment is \"\(segment.text)\"") }
        }
        let path = segments.map(\.text).joined(separator: "/")
        return path.hasPrefix("/") ? String(path.dropFirst()) : path
    }

    private mutating func append(value: String) {
        segments[segments.count - 1].text += PercentEncoding.encode(value)
        segments[segments.count - 1].hasInterpolation = true
    }

    private mutating func append(literal: String) {
        if let mark = literal.first(where: { $0 == "?" || $0 == "#" }) {
            fault = "it has a \"\(mark)\"; put the query into `query`"
        }
        let parts = literal.split(separator: "/", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index > 0 { segments.append(Segment()) }
            guard !part.isEmpty else { continue }
            segments[segments.count - 1].text += EndpointPath.escaped(literal: part)
            segments[segments.count - 1].hasLiteral = true
        }
    }

    /// Escapes what a path may not have, and keeps `%` with two hexadecimal digits.
    private static func escaped(literal: Substring) -> String {
        let pieces = literal.split(separator: "%", omittingEmptySubsequences: false)
        return pieces.dropFirst().reduce(encode(pieces[0])) { text, piece in
            let digits = piece.utf8.prefix(2)
            let isEscape = digits.count == 2 && digits.allSatisfy(PercentEncoding.isHexDigit)
            return text + (isEscape ? "%" : "%25") + encode(piece)
        }
    }

    private static func encode(_ text: Substring) -> String {
        PercentEncoding.encode(String(text), keeping: "!$&'()*+,;=:@")
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
        fileprivate var path = EndpointPath(verbatim: "")

        /// Begins a path.
        public init(literalCapacity: Int, interpolationCount: Int) {}

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
