import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPURLResponse {
    var head: ResponseHead {
        var headers = HTTPHeaders()
        for (name, value) in allHeaderFields {
            let name = HTTPHeader.Name("\(name)")
            // Foundation on Linux joins fields of the same name with commas. A URL contains no space, so ", " separates
            // two values.
            let values =
                switch name {
                case .setCookie: JoinedCookies(value: "\(value)").fields
                case .location: "\(value)".components(separatedBy: ", ")
                // A carriage return that does not end a line counts as a space (RFC 9112 section 2.2).
                default: ["\(value)".replacingOccurrences(of: "\r", with: " ").trimmingCharacters(in: .whitespaces)]
                }
            for value in values { headers.append(HTTPHeader(name, value)) }
        }
        return ResponseHead(status: HTTPStatus(statusCode), headers: headers)
    }
}

/// The `Set-Cookie` fields of a response in the form of Foundation on Linux: one string, joined with commas.
struct JoinedCookies {
    let value: String

    /// The separate fields. A comma begins another field if a name and `=` follow it. The comma in a date is not
    /// followed by a name and `=`.
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
