/// Puts a response's head together from its lines, as they came (RFC 9112 section 4 and 5).
///
/// Takes what servers send that is odd but clear: no blank after a colon, blanks around values, empty values, bare line feeds, no reason
/// phrase, folded values, bytes that are no UTF-8 (read as Latin-1). Heads of status 1xx are passed over; after the head, trailers are.
struct ResponseHeadReader {
    /// What a line brought.
    enum Step {
        /// More is to come.
        case more
        /// This was the last line.
        case head(ResponseHead)
        /// It passes the bound.
        case tooLarge
        /// It is no line of a head.
        case malformed(String)
    }

    private let limit: Int
    private var size = 0
    private var status: HTTPStatus?
    private var headers = HTTPHeaders()
    /// The field that the next line may go on with.
    private var last: (name: HTTPHeaderName, value: String)?
    private var isComplete = false

    /// - Parameter limit: The most bytes a head may have.
    init(limit: Int) {
        self.limit = limit
    }

    /// Reads one line, with or without its end.
    mutating func read(_ line: UnsafeRawBufferPointer) -> Step {
        guard !isComplete else { return .more }
        size += line.count
        guard size <= limit else { return .tooLarge }
        let line = ResponseHeadReader.withoutLineEnd(line)
        guard status != nil else { return readStatus(line) }
        guard let first = line.first else { return finish() }
        if HTTPGrammar.isBlank(first) { return fold(line) }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else {
            return .malformed("a header line has no name")
        }
        endField()
        last = (HTTPHeaderName(text(line[..<colon])), text(line[(colon + 1)...]))
        return .more
    }

    private mutating func readStatus(_ line: Slice<UnsafeRawBufferPointer>) -> Step {
        let digits = line.drop { $0 != UInt8(ascii: " ") }.drop { $0 == UInt8(ascii: " ") }
            .prefix { $0 != UInt8(ascii: " ") }
        guard digits.count == 3, let code = Int(text(digits)), code >= 100 else {
            return .malformed("the status line has no status")
        }
        status = HTTPStatus(code)
        headers.reserveCapacity(12)
        return .more
    }

    private mutating func fold(_ line: Slice<UnsafeRawBufferPointer>) -> Step {
        guard last != nil else { return .malformed("the first header line begins with a blank") }
        let more = text(line)
        last?.value += " " + more  // where it stands: each line once, however many there are
        return .more
    }

    private mutating func endField() {
        if let last { headers.append(HTTPHeader(last.name, last.value)) }
        last = nil
    }

    private mutating func finish() -> Step {
        guard let status else { return .malformed("there is no status line") }
        guard !status.isInformational else {
            self = ResponseHeadReader(limit: limit)
            return .more
        }
        endField()
        isComplete = true
        return .head(ResponseHead(status: status, headers: headers))
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
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        let buffer = UnsafeRawBufferPointer(rebasing: bytes)
        return String(validating: buffer, as: UTF8.self) ?? String(decoding: buffer.map(UInt16.init), as: UTF16.self)
    }
}
