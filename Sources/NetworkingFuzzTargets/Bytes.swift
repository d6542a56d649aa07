import Foundation
import Networking

/// The lexical rules of RFC 9110, written independently of the library's rules, so that they find faults in those.
enum Bytes {
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { isLetterOrDigit($0) || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }

    /// Whether a text can be the value of a header field without ending its line.
    static func isFieldValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F } && !isBlank(text.utf8.first)
            && !isBlank(text.utf8.last)
    }

    static func isBlank(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte >= 0x30 && byte <= 0x39 || byte >= 0x41 && byte <= 0x5A || byte >= 0x61 && byte <= 0x7A
    }

    /// Whether a text has only characters that a URL may contain (RFC 3986), and each `%` begins an escape.
    static func isURL(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.indices.allSatisfy { index in
            bytes[index] == UInt8(ascii: "%")
                ? bytes.dropFirst(index + 1).prefix(2).count(where: isHexDigit) == 2
                : isLetterOrDigit(bytes[index]) || "-._~:/?#[]@!$&'()*+,;=".utf8.contains(bytes[index])
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        byte >= 0x30 && byte <= 0x39 || byte >= 0x41 && byte <= 0x46 || byte >= 0x61 && byte <= 0x66
    }

    /// Returns the decoded bytes of a percent-encoded text; nil if the text is malformed.
    static func decoded(_ text: some StringProtocol) -> [UInt8]? {
        let bytes = Array(text.utf8)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%") {
                guard index + 2 < bytes.count,
                    let byte = UInt8(String(decoding: bytes[index + 1...index + 2], as: UTF8.self), radix: 16)
                else { return nil }
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return decoded
    }
}

/// Checks that no value in a request contains a character that ends a line of the head or a part of the URL.
func requireEscaped(_ request: HTTPRequest) throws(FuzzViolation) {
    let url = request.url.absoluteString
    try require(Bytes.isURL(url), "the URL has a byte that is not escaped: \(url.debugDescription)")
    for field in request.allHeaders {
        try require(Bytes.isToken(field.name.rawValue), "\(field.name.rawValue.debugDescription) is not a field name")
        try require(
            Bytes.isFieldValue(field.value), "\(field.name): \(field.value.debugDescription) is not a field value")
    }
}
