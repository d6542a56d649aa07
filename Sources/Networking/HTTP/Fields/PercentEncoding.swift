import Foundation

/// Percent-encoding of URL parts, [RFC 3986 section 2](https://www.rfc-editor.org/rfc/rfc3986#section-2).
enum PercentEncoding {
    /// Escapes every byte of the text except unreserved characters: letters, digits, `-`, `.`, `_`, `~`.
    static func encode(_ text: String) -> String {
        if text.utf8.allSatisfy(isUnreserved) { return text }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count * 2)
        for byte in text.utf8 {
            if isUnreserved(byte) { encoded.append(byte) } else { escape(byte, into: &encoded) }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Returns the text with its percent-escapes decoded. If the result is not valid UTF-8, returns the text unchanged.
    static func decode(_ text: Substring) -> String { text.removingPercentEncoding ?? String(text) }

    /// Appends a byte as `%` and two hexadecimal digits.
    static func escape(_ byte: UInt8, into encoded: inout [UInt8]) {
        encoded.append(UInt8(ascii: "%"))
        encoded.append(hexDigits[Int(byte >> 4)])
        encoded.append(hexDigits[Int(byte & 15)])
    }

    /// Returns a byte as `%` and two hexadecimal digits.
    static func escaped(_ byte: UInt8) -> String {
        var encoded: [UInt8] = []
        escape(byte, into: &encoded)
        return String(decoding: encoded, as: UTF8.self)
    }

    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: HTTPGrammar.isAlphanumeric(byte)
        }
    }

    static func isHexDigit(_ byte: UInt8) -> Bool {
        hexDigits.contains(byte) || byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "f")
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}
