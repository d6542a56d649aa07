import Foundation

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
