/// The `Set-Cookie` fields of a response in the form of Foundation on Linux: one string, joined by commas.
struct JoinedCookies {
    let value: String

    /// The separate fields. A comma begins another field if a name and `=` follow it, as they do not in a date.
    var fields: [String] {
        let bytes = value.utf8
        var fields: [String] = []
        var start = bytes.startIndex
        var index = start
        while let comma = bytes[index...].firstIndex(of: UInt8(ascii: ",")) {
            let next = bytes[bytes.index(after: comma)...].drop { HTTPGrammar.isBlank($0) }
            let name = next.prefix { HTTPGrammar.isTokenByte($0) }
            index = name.endIndex
            guard !name.isEmpty, name.endIndex < bytes.endIndex, bytes[name.endIndex] == UInt8(ascii: "=") else {
                continue
            }
            fields.append(String(decoding: bytes[start..<comma], as: UTF8.self))
            start = next.startIndex
        }
        return fields + [String(decoding: bytes[start...], as: UTF8.self)]
    }
}
