/// Reads a JSON text, [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259), token by token.
///
/// Foundation decodes the types of an app. This scanner reads values of unknown type. For such values, Foundation's
/// decoder would have to try one type after another, and each wrong guess takes longer if the value is nested more
/// deeply. The scanner needs time and memory in proportion to the length of the text.
struct JSONScanner {
    /// A part of a JSON text.
    enum Token: Equatable {
        case null
        case bool(Bool)
        /// A number as it is written, so that no digit is lost.
        case number(String)
        case string(String)
        /// The name of a member. The tokens of its value follow.
        case name(String)
        case beginArray, endArray, beginObject, endObject
    }

    /// What may follow in the text.
    private enum Expected: String {
        case value = "a value"
        case valueOrEnd = "a value or ]"
        case name = "the name of a member"
        case nameOrEnd = "the name of a member or }"
        case commaOrEnd = "a comma or the end of the array or object"
        case end = "the end of the text"
    }

    private let bytes: [UInt8]
    private let depth: Int
    private var position = 0
    private var expected = Expected.value
    /// The arrays and objects that have begun and not ended, from the outermost to the innermost.
    private var containers: [Token] = []

    /// - Parameter depth: The maximum nesting depth of arrays and objects. A deeper text is an error.
    init(_ text: String, depth: Int) {
        bytes = Array(text.utf8)
        self.depth = depth
    }

    /// Returns the next token; nil at the end of the text.
    mutating func next() throws -> Token? {
        skipSpace()
        if expected == .commaOrEnd, skip(",") {
            expected = containers.last == .beginObject ? .name : .value
            skipSpace()
        }
        switch (expected, byte) {
        case (.end, nil): return nil
        case (.valueOrEnd, UInt8(ascii: "]")), (.commaOrEnd, UInt8(ascii: "]")): return try end(.beginArray, .endArray)
        case (.nameOrEnd, UInt8(ascii: "}")), (.commaOrEnd, UInt8(ascii: "}")): return try end(.beginObject, .endObject)
        case (.name, _), (.nameOrEnd, _): return try name()
        case (.value, _), (.valueOrEnd, _): return try value()
        default: throw fault(expected.rawValue)
        }
    }

    private mutating func value() throws -> Token {
        if skip("[") { return try begin(.beginArray, .valueOrEnd) }
        if skip("{") { return try begin(.beginObject, .nameOrEnd) }
        let token: Token =
            switch byte {
            case UInt8(ascii: "\""): .string(try string())
            case UInt8(ascii: "-")?, (UInt8(ascii: "0")...UInt8(ascii: "9"))?: .number(try number())
            case _ where skip("true"): .bool(true)
            case _ where skip("false"): .bool(false)
            case _ where skip("null"): .null
            default: throw fault(expected.rawValue)
            }
        expected = containers.isEmpty ? .end : .commaOrEnd
        return token
    }

    private mutating func begin(_ token: Token, _ next: Expected) throws -> Token {
        guard containers.count < depth else {
            throw Limit("more than \(depth) arrays and objects nested in each other at byte \(position - 1)").fault
        }
        containers.append(token)
        expected = next
        return token
    }

    private mutating func end(_ begin: Token, _ token: Token) throws -> Token {
        guard containers.last == begin else { throw fault(expected.rawValue) }
        containers.removeLast()
        position += 1
        expected = containers.isEmpty ? .end : .commaOrEnd
        return token
    }

    private mutating func name() throws -> Token {
        guard byte == UInt8(ascii: "\"") else { throw fault(expected.rawValue) }
        let name = try string()
        skipSpace()
        guard skip(":") else { throw fault("a colon") }
        expected = .value
        return .name(name)
    }

    /// Reads a number, RFC 8259 section 6.
    private mutating func number() throws -> String {
        let start = position
        _ = skip("-")
        if !skip("0") { try digits() }
        if skip(".") { try digits() }
        if skip("e") || skip("E") {
            _ = skip("+") || skip("-")
            try digits()
        }
        return text(from: start)
    }

    private mutating func digits() throws {
        let start = position
        while let byte, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw fault("a digit") }
    }

    /// Reads a string, RFC 8259 section 7.
    private mutating func string() throws -> String {
        position += 1
        var start = position
        var result = ""
        while let byte {
            switch byte {
            case UInt8(ascii: "\""):
                defer { position += 1 }
                return result.isEmpty ? text(from: start) : result + text(from: start)
            case UInt8(ascii: "\\"):
                result += text(from: start)
                position += 1
                result.unicodeScalars.append(try escaped())
                start = position
            case ..<0x20: throw fault("a character of a string")
            default: position += 1
            }
        }
        throw fault("a quotation mark")
    }

    private static let escapes: KeyValuePairs<StaticString, Unicode.Scalar> = [
        "\"": "\"", "\\": "\\", "/": "/", "b": "\u{8}", "f": "\u{C}", "n": "\n", "r": "\r", "t": "\t",
    ]

    private mutating func escaped() throws -> Unicode.Scalar {
        for (mark, scalar) in JSONScanner.escapes where skip(mark) { return scalar }
        guard skip("u") else { throw fault("an escape") }
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), skip("\\u"), case let second = try hexadecimal(),
            UTF16.isTrailSurrogate(second)
        else { throw fault("a pair of surrogates") }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private mutating func hexadecimal() throws -> UInt16 {
        let start = position
        while position < start + 4, let byte, Character(Unicode.Scalar(byte)).isHexDigit { position += 1 }
        guard position == start + 4, let unit = UInt16(text(from: start), radix: 16) else { throw fault("a hex digit") }
        return unit
    }

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func text(from start: Int) -> String { String(decoding: bytes[start..<position], as: UTF8.self) }

    private mutating func skipSpace() {
        while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    /// Skips a text if it comes next, and returns whether it did.
    private mutating func skip(_ text: StaticString) -> Bool {
        let isNext = text.withUTF8Buffer { bytes[position...].starts(with: $0) }
        if isNext { position += text.utf8CodeUnitCount }
        return isNext
    }

    /// Returns an error that says what was expected, what was found, and where.
    private func fault(_ expected: String) -> DecodingError {
        let found = byte.map { String(reflecting: String(Unicode.Scalar($0))) } ?? "the end of the text"
        return JSONScanner.fault("expected \(expected), found \(found) at byte \(position)")
    }

    /// The error for a valid text that exceeds a limit. It becomes the underlying error of a decoding error.
    struct Limit: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }

        var fault: DecodingError {
            .dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: description, underlyingError: self))
        }
    }

    static func fault(_ reason: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: reason))
    }
}
