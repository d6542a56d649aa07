import Foundation

extension HTTPRequest {
    /// Checks that the request can be sent safely. Every transport calls this method before it sends a request.
    ///
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest``, which names the part and the reason.
    ///   These parts are invalid: a method or a field name that is not a token; a field value that contains CR, LF, NUL
    ///   or another control character (also U+0080 to U+009F) or a line separator, or begins or ends with whitespace; a
    ///   `Host` field that is not a host with an optional port; a `Content-Type` field without a type and subtype; a
    ///   `Content-Length` or `Transfer-Encoding` field, because the library sets these; CONNECT; a body with HEAD or
    ///   TRACE; a URL that is not `http` or `https`, has no host or an invalid host, or has a port above 65535; an idle
    ///   or connect timeout that is not positive.
    public func validate() throws {
        guard HTTPGrammar.isToken(method.rawValue) else { throw invalid("method", "it is not an RFC 9110 token") }
        guard method != .connect else {
            throw invalid("method", "CONNECT is reserved for proxies; set the proxy in the transport's settings")
        }
        guard body.isEmpty || method != .head && method != .trace else {
            throw invalid("body", "a \(method) request cannot have a body")
        }
        try validateURL()
        try headers.withFields { for index in $0.indices { try validate($0[index]) } }
        try body.headers.withFields { for index in $0.indices { try validate($0[index]) } }
        if let idle = timeouts.idle, idle <= .zero {
            throw invalid("idle timeout", "expected a time greater than zero, found \(idle.shortText)")
        }
        if let connect = timeouts.connect, connect <= .zero {
            throw invalid("connect timeout", "expected a time greater than zero, found \(connect.shortText)")
        }
    }

    private func validateURL() throws {
        guard let scheme = origin?.scheme ?? url.scheme?.lowercased() else { throw invalid("URL", "it has no scheme") }
        guard scheme == "http" || scheme == "https" else {
            throw invalid("URL", "its scheme is \"\(scheme)\", not http or https\(URL.hint(for: scheme))")
        }
        guard origin != nil else { throw invalid("URL", "it has no host") }
        if let fault = URLAuthority(url).fault { throw invalid("URL", fault) }
    }

    private func validate(_ field: HTTPHeader) throws {
        guard HTTPGrammar.isToken(field.name.rawValue) else {
            throw invalid("header name \(field.name.rawValue.debugDescription)", "it is not an RFC 9110 token")
        }
        guard HTTPGrammar.isFieldValue(field.value) else {
            throw invalid(
                "header \(field.name)",
                "its value contains a control character or line separator, or begins or ends with whitespace")
        }
        guard field.name != .host || HTTPGrammar.isHost(field.value) else {
            throw invalid("header Host", "it is not a host with an optional port")
        }
        guard field.name != .contentType || HTTPGrammar.isMediaType(field.value) else {
            throw invalid("header Content-Type", "it is not a media type, such as text/plain")
        }
        guard field.name != .contentLength, field.name != .transferEncoding else {
            throw invalid("header \(field.name)", "it must not be set, because the library derives it from the body")
        }
    }

    private func invalid(_ part: String, _ reason: String) -> NetworkError {
        NetworkError(.invalidRequest, reason: "\(part): \(reason)", request: self)
    }
}

extension URL {
    /// A hint for a URL with a WebSocket scheme: the scheme to use instead.
    static func hint(for scheme: String) -> String {
        ["ws", "wss"].contains(scheme.lowercased()) ? "; for a WebSocket, write http for ws, and https for wss" : ""
    }
}
