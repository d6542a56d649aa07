/// A scanner that reads the parts of a structured field value, one after another.
struct HTTPFieldScanner {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ value: String) {
        bytes = Array(value.utf8)
    }

    var isAtEnd: Bool { position == bytes.count }
    var next: UInt8? { isAtEnd ? nil : bytes[position] }

    mutating func move(to position: Int) {
        self.position = min(position, bytes.count)
    }

    mutating func skipBlanks() {
        while let next, HTTPGrammar.isBlank(next) { position += 1 }
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func token() -> String? {
        text { HTTPGrammar.isTokenByte($0) }
    }

    /// Reads a `token68` of RFC 9110 section 11.2 (for example base64), including the `=` characters at its end.
    mutating func token68() -> String? {
        guard let start = text({ PercentEncoding.isUnreserved($0) || "+/".utf8.contains($0) }) else { return nil }
        return start + (text { $0 == UInt8(ascii: "=") } ?? "")
    }

    mutating func text(_ isPart: (UInt8) -> Bool) -> String? {
        let start = position
        while let next, isPart(next) { position += 1 }
        return start == position ? nil : String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Reads a quoted-string and returns it without quotes and escapes. Returns nil if no quoted-string begins at the
    /// current position, or if it has no closing quote.
    mutating func quotedString() -> String? {
        let start = position
        guard skip("\"") else { return nil }
        var content: [UInt8] = []
        while var byte = next {
            position += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: content, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = next else { break }
                byte = escaped
                position += 1
            }
            content.append(byte)
        }
        position = start
        return nil
    }

    /// Reads `name=value`. The value is a token or a quoted-string. Blanks around the equals sign are allowed.
    mutating func parameter() -> (name: String, value: String)? {
        let start = position
        if let name = token() {
            skipBlanks()
            if skip("=") {
                skipBlanks()
                if let value = quotedString() ?? token() { return (name, value) }
            }
        }
        position = start
        return nil
    }

    /// Skips the blanks and commas between the elements of a list.
    mutating func skipSeparators() {
        repeat { skipBlanks() } while skip(",")
    }

    /// Reads the elements of a list, [RFC 9110 section
    /// 5.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.1). Stops at the first element that cannot be read.
    static func elements<Element>(of list: String, _ read: (inout HTTPFieldScanner) -> Element?) -> [Element] {
        var scanner = HTTPFieldScanner(list)
        var elements: [Element] = []
        scanner.skipSeparators()
        while let element = read(&scanner) {
            elements.append(element)
            scanner.skipSeparators()
        }
        return elements
    }
}

extension Substring {
    /// Returns the text without spaces and tabs at either end.
    func trimmingBlanks() -> Substring {
        let start = utf8.drop(while: HTTPGrammar.isBlank)
        guard let last = start.lastIndex(where: { !HTTPGrammar.isBlank($0) }) else { return Substring(start.prefix(0)) }
        return Substring(start[...last])
    }
}
