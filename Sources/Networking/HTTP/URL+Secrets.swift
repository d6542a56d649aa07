import Foundation

extension URL {
    /// For messages: neither query nor user and password.
    var withoutSecrets: String {
        let address = absoluteString.prefix { $0 != "?" && $0 != "#" }
        guard let at = address.lastIndex(of: "@") else { return String(address) }
        let start = address.range(of: "//")?.upperBound ?? address.startIndex
        return String(address[..<min(start, at)]) + String(address[address.index(after: at)...])
    }
}
