import Foundation
import Networking

/// The files of the page, which are a part of the program.
enum InspectorPage {
    static let html = String(decoding: PackageResources.inspector_html, as: UTF8.self)
    static let style = String(decoding: PackageResources.inspector_css, as: UTF8.self)
    static let script = String(decoding: PackageResources.inspector_js, as: UTF8.self)

    /// What the page may load: nothing but its own files, and images that it contains.
    static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    /// Returns the page with its files and its content as one file.
    static func file(_ content: InspectorContent) throws -> Data {
        let nonce = random()
        let policy =
            "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; img-src data:; "
            + "base-uri 'none'; form-action 'none'"
        var page = html
        let replacements = [
            ("<link rel=\"stylesheet\" href=\"inspector.css\">", "<style nonce=\"\(nonce)\">\n\(style)</style>"),
            (
                "<script src=\"inspector.js\" defer></script>",
                "<meta http-equiv=\"Content-Security-Policy\" content=\"\(policy)\">"
            ),
            (
                "<!--content-->",
                "<script type=\"application/json\" id=\"content\" nonce=\"\(nonce)\">\(try json(content))</script>\n"
                    + "<script nonce=\"\(nonce)\">\n\(script)</script>"
            ),
        ]
        for (place, text) in replacements {
            guard let range = page.range(of: place) else { continue }
            page.replaceSubrange(range, with: text)
        }
        return Data(page.utf8)
    }

    /// Returns JSON that cannot end a script element or a line.
    static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = try encoder.encode(value)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(json.count + json.count / 16)
        var last: (UInt8, UInt8) = (0, 0)
        for byte in json {
            switch byte {
            case UInt8(ascii: "<"): bytes += "\\u003c".utf8
            case UInt8(ascii: ">"): bytes += "\\u003e".utf8
            case UInt8(ascii: "&"): bytes += "\\u0026".utf8
            case 0xA8 where last == (0xE2, 0x80), 0xA9 where last == (0xE2, 0x80):
                bytes.removeLast(2)  // of U+2028 or U+2029
                bytes += (byte == 0xA8 ? "\\u2028" : "\\u2029").utf8
            default: bytes.append(byte)
            }
            last = (last.1, byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns 32 random hexadecimal digits.
    static func random() -> String {
        (0..<32).map { _ in String(UInt8.random(in: 0..<16), radix: 16) }.joined()
    }
}
