import Foundation

/// A parser that reads a response head line by line (RFC 9112 sections 4 and 5).
///
/// It accepts irregular lines that have only one meaning: no space after a colon, spaces around values, empty values,
/// bare line feeds, no reason phrase, folded values, bytes that are not UTF-8 (read as Latin-1). It ignores heads of
/// status 1xx and trailers after the head. Status 101 is an error, unless the request asks for it.
package struct ResponseHeadReader {
    /// The result of reading a line.
    package enum Step {
        /// The head is not complete yet.
        case more
        /// The line completes the head.
        case head(ResponseHead)
        /// The head exceeds a limit. The text states the limit.
        case tooLarge(String)
        /// The line is not valid in a head. The text is the reason.
        case malformed(String)
    }

    private let limit: Int
    private let acceptsUpgrade: Bool
    /// The number of bytes so far, including those of 1xx heads.
    private var size = 0
    private var status: HTTPStatus?
    private var version = ""
    private var headers = HTTPHeaders()
    /// The field to which a folded line belongs.
    private var last: (name: HTTPHeader.Name, value: String)?
    private var isComplete = false

    /// - Parameters:
    ///   - limit: The largest number of bytes in all heads and trailers of a response.
    ///   - acceptsUpgrade: Whether the request asks for another protocol, so that a head of status 101 is final.
    package init(limit: Int, acceptsUpgrade: Bool = false) {
        self.limit = limit
        self.acceptsUpgrade = acceptsUpgrade
    }

    /// Reads one line, with or without its line ending.
    package mutating func read(_ line: UnsafeRawBufferPointer) -> Step {
        size += line.count
        guard size <= limit else { return .tooLarge("more than \(limit) bytes") }
        guard !isComplete else { return .more }  // a trailer; its bytes count, because libcurl may store it
        let line = ResponseHeadReader.withoutLineEnd(line)
        guard status != nil else { return readStatus(line) }
        guard let first = line.first else { return finish() }
        if HTTPGrammar.isBlank(first) { return fold(line) }
        let colon = ResponseHeadReader.tokenCount(line)
        guard colon > 0, colon < line.count, line[colon] == UInt8(ascii: ":") else {
            return .malformed(
                line.dropFirst().contains(UInt8(ascii: ":"))
                    ? "a field name contains an invalid character" : "a header line has no field name")
        }
        endField()
        guard headers.count < HTTPHeaders.largestCount else {
            return .tooLarge("more than \(HTTPHeaders.largestCount) fields")
        }
        let name = HTTPHeader.Name(text(line, 0..<colon))
        last = (name, value(line, colon + 1..<line.count, of: name))
        return .more
    }

    /// Returns a part of a line as the value of a field. In a URI reference that is not UTF-8, the bytes are escaped,
    /// so that the server gets the same bytes back.
    private func value(_ line: UnsafeRawBufferPointer, _ range: Range<Int>, of name: HTTPHeader.Name) -> String {
        let value = text(line, range)
        guard name == .location, !String(decoding: line, as: UTF8.self).utf8.elementsEqual(line) else { return value }
        return value.unicodeScalars.map { $0.isASCII ? String($0) : "%" + String($0.value, radix: 16, uppercase: true) }
            .joined()
    }

    private mutating func readStatus(_ line: UnsafeRawBufferPointer) -> Step {
        let space = UInt8(ascii: " ")
        let versionEnd = line.firstIndex(of: space) ?? line.count
        let start = line[versionEnd...].firstIndex { $0 != space } ?? line.count
        let end = line[start...].firstIndex(of: space) ?? line.count
        guard end - start == 3, let code = Int(text(line, start..<end)), code >= 100 else {
            return .malformed("the status line has no valid status code")
        }
        let slash = line[..<versionEnd].firstIndex(of: UInt8(ascii: "/"))
        let version = slash.map { text(line, $0 + 1..<versionEnd) } ?? ""
        guard version == "1.1" || version == "2" || version == "3" || ResponseHeadReader.isVersion1(version) else {
            return .malformed("expected HTTP version 1.x, 2 or 3, found \"\(version)\"")
        }
        status = HTTPStatus(code)
        self.version = version
        headers.reserveCapacity(12)
        return .more
    }

    /// Whether a version is `1.` and a digit (RFC 9112 section 2.3).
    private static func isVersion1(_ version: String) -> Bool {
        version.utf8.count == 3 && version.hasPrefix("1.") && version.utf8.last.map { $0 >= 0x30 && $0 <= 0x39 } == true
    }

    private mutating func fold(_ line: UnsafeRawBufferPointer) -> Step {
        guard let name = last?.name else { return .malformed("the first header line begins with a space or tab") }
        // libcurl reads only the first line of this value, so it could end the body at a different position.
        guard name != .transferEncoding else { return .malformed("Transfer-Encoding continues on another line") }
        let more = value(line, 0..<line.count, of: name)
        // The blanks before and after a value are not part of it (RFC 9112 section 5).
        guard !more.isEmpty else { return .more }
        if last?.value.isEmpty == false { last?.value += " " }
        last?.value += more  // in place, so that many lines take linear time
        return .more
    }

    private mutating func endField() {
        if let last { headers.append(HTTPHeader(last.name, last.value)) }
        last = nil
    }

    private mutating func finish() -> Step {
        guard let status else { return .malformed("there is no status line") }
        let isUpgrade = status == .switchingProtocols
        guard !isUpgrade || acceptsUpgrade else {
            return .malformed("the server switched protocols (status 101), although the request did not ask for it")
        }
        guard !status.isInformational || isUpgrade else {
            let size = size
            self = ResponseHeadReader(limit: limit, acceptsUpgrade: acceptsUpgrade)
            self.size = size
            return .more
        }
        endField()
        isComplete = true
        return .head(ResponseHead(status: status, headers: headers, version: version))
    }

    /// Returns the number of token characters at the beginning of a line.
    private static func tokenCount(_ line: UnsafeRawBufferPointer) -> Int {
        var count = 0
        while count < line.count, HTTPGrammar.isTokenByte(line[count]) { count += 1 }
        return count
    }

    private static func withoutLineEnd(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var end = line.count
        if end > 0, line[end - 1] == UInt8(ascii: "\n") { end -= 1 }
        if end > 0, line[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: line[..<end])
    }

    /// Returns a part of a line as text, without spaces and tabs at either end.
    private func text(_ line: UnsafeRawBufferPointer, _ range: Range<Int>) -> String {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, HTTPGrammar.isBlank(line[start]) { start += 1 }
        while start < end, HTTPGrammar.isBlank(line[end - 1]) { end -= 1 }
        var isPlain = true
        for index in start..<end {
            let byte = line[index]
            if byte >= 0x80 || byte == 0x0D || byte == 0 { isPlain = false }
        }
        let bytes = UnsafeRawBufferPointer(rebasing: line[start..<end])
        return isPlain ? String(decoding: bytes, as: UTF8.self) : ResponseHeadReader.irregularText(bytes)
    }

    /// Decodes bytes that are not all ASCII, or that contain a carriage return or NUL. A carriage return that does
    /// not end a line counts as a space, and so does NUL (RFC 9112 section 2.2, RFC 9110 section 5.5).
    private static func irregularText(_ bytes: UnsafeRawBufferPointer) -> String {
        let spaced = bytes.map { $0 == 0x0D || $0 == 0 ? UInt8(ascii: " ") : $0 }
        let trimmed = spaced.drop(while: HTTPGrammar.isBlank).reversed().drop(while: HTTPGrammar.isBlank).reversed()
        return String(fieldValue: trimmed)
    }
}
