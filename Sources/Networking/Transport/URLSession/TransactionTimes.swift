import Foundation

/// The last transaction of a task, as `URLSessionTaskMetrics` reports it with Apple's dates and names.
struct TransactionTimes {
    var start: Date?
    var nameLookupEnd: Date?
    /// The end of connecting, TLS included.
    var connectEnd: Date?
    var tlsStart: Date?
    var tlsEnd: Date?
    var responseStart: Date?
    var responseEnd: Date?
    var isReusedConnection = false
    var isSecure = false
    /// The protocol's name for ALPN (RFC 7301): `h2`, `http/1.1`.
    var protocolName: String?

    /// The times, each relative to the start; zero for the phases of a connection that was reused.
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
