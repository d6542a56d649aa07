import Foundation

/// Reads a response head line by line (RFC 9112 sections 4 and 5).
///
/// Accepts irregular lines with one meaning: no blank after a colon, blanks around values, empty values, bare line
/// feeds, no reason phrase, folded values, bytes that are not UTF-8 (read as Latin-1). Ignores heads of status 1xx,
/// and trailers after the head.
struct ResponseHeadReader {
    /// The result of reading a line.
    enum Step {
        /// The head goes on.
        case more
        /// This was the last line.
        case head(ResponseHead)
        /// The head is larger than a limit, which the text names.
        case tooLarge(String)
        /// The line does not belong into a head.
        case malformed(String)
    }

    /// The largest number of fields; libcurl has a limit of 5,000 since 8.6.
    static let maximumFieldCount = 4_096

    private let limit: Int
    /// The bytes so far, those of 1xx heads included.
    private var size = 0
    private var status: HTTPStatus?
    private var version = ""
    private var headers = HTTPHeaders()
    /// The field to which a folded line belongs.
    private var last: (name: HTTPHeaderName, value: String)?
    private var isComplete = false

    /// - Parameter limit: The largest number of bytes in all heads of a response.
    init(limit: Int) {
        self.limit = limit
    }

    /// Reads one line, with or without its end.
    mutating func read(_ line: UnsafeRawBufferPointer) -> Step {
        guard !isComplete else { return .more }
        size += line.count
        guard size <= limit else { return .tooLarge("more than \(limit) bytes") }
        let line = ResponseHeadReader.withoutLineEnd(line)
        guard status != nil else { return readStatus(line) }
        guard let first = line.first else { return finish() }
        if HTTPGrammar.isBlank(first) { return fold(line) }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else {
            return .malformed("a header line has no name")
        }
        guard line[..<colon].allSatisfy({ HTTPGrammar.isTokenByte($0) }) else {
            return .malformed("a field name has a character that names do not have")
        }
        endField()
        guard headers.count < ResponseHeadReader.maximumFieldCount else {
            return .tooLarge("more than \(ResponseHeadReader.maximumFieldCount) fields")
        }
        last = (HTTPHeaderName(text(line[..<colon])), text(line[(colon + 1)...]))
        return .more
    }

    private mutating func readStatus(_ line: Slice<UnsafeRawBufferPointer>) -> Step {
        let digits = line.drop { $0 != UInt8(ascii: " ") }.drop { $0 == UInt8(ascii: " ") }
            .prefix { $0 != UInt8(ascii: " ") }
        guard digits.count == 3, let code = Int(text(digits)), code >= 100 else {
            return .malformed("the status line has no status")
        }
        let version = ResponseHeadReader.version(of: line)
        guard version.hasPrefix("1.") || version == "2" || version == "3" else {
            return .malformed("its version is \(version)")
        }
        status = HTTPStatus(code)
        self.version = version
        headers.reserveCapacity(12)
        return .more
    }

    private mutating func fold(_ line: Slice<UnsafeRawBufferPointer>) -> Step {
        guard last != nil else { return .malformed("the first header line begins with a blank") }
        let more = text(line)
        last?.value += " " + more  // in place, so that many lines take linear time
        return .more
    }

    private mutating func endField() {
        if let last { headers.append(HTTPHeader(last.name, last.value)) }
        last = nil
    }

    private mutating func finish() -> Step {
        guard let status else { return .malformed("there is no status line") }
        guard status != .switchingProtocols else {
            return .malformed("it switches protocols, which no request asks for")
        }
        guard !status.isInformational else {
            let size = size
            self = ResponseHeadReader(limit: limit)
            self.size = size
            return .more
        }
        endField()
        isComplete = true
        return .head(ResponseHead(status: status, headers: headers, version: version))
    }

    /// The version in a status line, `1.1` of `HTTP/1.1 200 OK`.
    private static func version(of line: Slice<UnsafeRawBufferPointer>) -> String {
        let digits = line.drop { $0 != UInt8(ascii: "/") }.dropFirst().prefix { $0 != UInt8(ascii: " ") }
        if digits.elementsEqual("1.1".utf8) { return "1.1" }
        return digits.elementsEqual("2".utf8) ? "2" : String(decoding: digits, as: UTF8.self)
    }

    private static func withoutLineEnd(_ line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        var end = line.endIndex
        if end > 0, line[end - 1] == UInt8(ascii: "\n") { end -= 1 }
        if end > 0, line[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return line[..<end]
    }

    /// The bytes as text, without blanks at either end.
    private func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        var bytes = bytes
        while let first = bytes.first, HTTPGrammar.isBlank(first) { bytes.removeFirst() }
        while let last = bytes.last, HTTPGrammar.isBlank(last) { bytes.removeLast() }
        // Text in ASCII, which nearly all is, needs no validation.
        if bytes.allSatisfy({ $0 < 0x80 && $0 != 0x0D && $0 != 0 }) { return String(decoding: bytes, as: UTF8.self) }
        // A carriage return that ends no line counts as a blank, and NUL does (RFC 9112 section 2.2, RFC 9110 section
        // 5.5).
        if bytes.contains(where: { $0 == 0x0D || $0 == 0 }) {
            let spaced = bytes.map { $0 == 0x0D || $0 == 0 ? UInt8(ascii: " ") : $0 }
            return spaced.withUnsafeBytes { text(UnsafeRawBufferPointer($0)[...]) }
        }
        return String(bytes: bytes, encoding: .utf8) ?? String(decoding: bytes.map(UInt16.init), as: UTF16.self)
    }
}
