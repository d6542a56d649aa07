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

/// The lexical rules of [RFC 9110 section 5.6](https://www.rfc-editor.org/rfc/rfc9110#section-5.6), applied to bytes.
enum HTTPGrammar {
    /// Whether the text is a token, which is the syntax of methods and field names.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
    }

    /// Whether the text is a valid field value: it contains no CR, LF, NUL or other control byte except the tab, and
    /// neither begins nor ends with a blank.
    static func isFieldValue(_ text: String) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, let last = bytes.last else { return true }
        guard !isBlank(first), !isBlank(last) else { return false }
        return bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        // ! # $ % & ' * + - . ^ _ ` | ~
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: isAlphanumeric(byte)
        }
    }

    /// Whether the byte is an ASCII letter or digit.
    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Returns the number that a text of digits represents. Returns nil if the text contains another character, such as
    /// a sign, or if the number is too large.
    static func number<Number: FixedWidthInteger>(_ text: some StringProtocol) -> Number? {
        text.utf8.allSatisfy(isDigit) ? Number(text) : nil
    }

    static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }

    /// Whether two byte sequences are equal, ignoring the case of ASCII letters.
    static func isEqualIgnoringCase(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        left.elementsEqual(right) { $0 == $1 || lowercased($0) == lowercased($1) }
    }

    /// Returns the text as a quoted-string.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        // Iterates over scalars, because a quote with a combining mark is not the `Character` `"`, although its first
        // byte is a quote.
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }

    /// Returns the text unchanged if it is a token, otherwise as a quoted-string.
    static func tokenOrQuoted(_ text: String) -> String {
        isToken(text) ? text : quoted(text)
    }
}
