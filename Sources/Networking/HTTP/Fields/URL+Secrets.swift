import Foundation

extension URL {
    /// For messages: neither query nor user and password.
    var withoutSecrets: String { URL.withoutSecrets(absoluteString) }

    /// A text that may be a URL, without query, fragment, user and password.
    static func withoutSecrets(_ text: String) -> String {
        let address = text.prefix { $0 != "?" && $0 != "#" }
        let start = address.range(of: "//")?.upperBound ?? address.startIndex
        let authority = address[start...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(address) }
        return address[..<start] + String(address[address.index(after: at)...])
    }
}
