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
                case .location:
                    "\(value)".components(separatedBy: ", ").map { $0.trimmingCharacters(in: .whitespaces) }
                // A carriage return that does not end a line counts as a space (RFC 9112 section 2.2).
                default: ["\(value)".replacingOccurrences(of: "\r", with: " ").trimmingCharacters(in: .whitespaces)]
                }
            for value in values { headers.append(HTTPHeader(name, String(fieldValue: value.utf8))) }
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

/// The dates of the last transaction of a task, as `URLSessionTaskMetrics` reports them.
struct TransactionTimes {
    var start: Date?
    var nameLookupEnd: Date?
    /// The time at which the connection was established, including the TLS handshake.
    var connectEnd: Date?
    var tlsStart: Date?
    var tlsEnd: Date?
    var responseStart: Date?
    var responseEnd: Date?
    var isReusedConnection = false
    var connection: HTTPResponse.Connection?
    var isSecure = false
    /// The ALPN name of the protocol (RFC 7301): `h2`, `http/1.1`.
    var protocolName: String?

    /// The times, relative to the start. If the connection was reused, the times of its phases are zero.
    var timing: HTTPResponse.Timing {
        HTTPResponse.Timing(
            nameLookup: isReusedConnection ? .zero : span(to: nameLookupEnd),
            connect: isReusedConnection ? .zero : span(to: tlsStart ?? connectEnd),
            tls: isReusedConnection && isSecure ? .zero : span(to: tlsEnd),
            firstByte: span(to: responseStart), total: span(to: responseEnd))
    }

    /// The version of HTTP in the form of ``HTTPResponse/httpVersion``: `1.1`, `2`, `3`.
    var httpVersion: String? {
        switch protocolName?.lowercased() {
        case "h2", "h2c": "2"
        case "h3": "3"
        case let name? where name.hasPrefix("http/"): String(name.dropFirst("http/".count))
        default: nil
        }
    }

    private func span(to end: Date?) -> Duration? {
        guard let start, let end else { return nil }
        return .milliseconds(max(end.timeIntervalSince(start), 0) * 1_000)
    }
}
