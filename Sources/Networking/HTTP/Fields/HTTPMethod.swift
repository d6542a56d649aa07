/// A request method, [RFC 9110 section 9](https://www.rfc-editor.org/rfc/rfc9110#section-9).
///
/// Any token is a method: `HTTPMethod("PROPFIND")`. Methods are case-sensitive. If the name is not a token, sending the
/// request fails with ``NetworkError/Kind/invalidRequest``.
public struct HTTPMethod: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name of the method, as it is sent.
    public let rawValue: String

    /// Creates a method. The name is case-sensitive.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a method from a string literal. The name is case-sensitive.
    public init(stringLiteral value: String) {
        self.rawValue = value
    }

    /// The name of the method, as it is sent.
    public var description: String { rawValue }

    /// Requests a representation of the resource (RFC 9110 section 9.3.1).
    public static let get = HTTPMethod("GET")
    /// Requests the header fields of a GET response, without the content (RFC 9110 section 9.3.2).
    public static let head = HTTPMethod("HEAD")
    /// Asks the resource to process the content (RFC 9110 section 9.3.3).
    public static let post = HTTPMethod("POST")
    /// Replaces the state of the resource with the content (RFC 9110 section 9.3.4).
    public static let put = HTTPMethod("PUT")
    /// Removes the current representation of the resource (RFC 9110 section 9.3.5).
    public static let delete = HTTPMethod("DELETE")
    /// Opens a tunnel (RFC 9110 section 9.3.6). Only the library itself opens tunnels, if its transport uses a proxy. A
    /// request of the app with this method fails with ``NetworkError/Kind/invalidRequest``.
    public static let connect = HTTPMethod("CONNECT")
    /// Requests the communication options of the resource (RFC 9110 section 9.3.7).
    public static let options = HTTPMethod("OPTIONS")
    /// Requests a loop-back of the request message (RFC 9110 section 9.3.8).
    public static let trace = HTTPMethod("TRACE")
    /// Changes a part of the resource (RFC 5789).
    public static let patch = HTTPMethod("PATCH")
    /// Sends a safe query with content (the QUERY method).
    public static let query = HTTPMethod("QUERY")

    /// Whether the method is read-only by definition (RFC 9110 section 9.2.1), according to the [IANA
    /// registry](https://www.iana.org/assignments/http-methods). False for a method that is not in the registry.
    public var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace, .query, "PROPFIND", "REPORT", "SEARCH": true
        default: false
        }
    }

    /// Whether a request without content is sent with `Content-Length: 0` (RFC 9110 section 8.6).
    var expectsContent: Bool {
        self == .post || self == .put || self == .patch
    }

    /// Whether, by definition, several identical requests have the same effect as one request (RFC 9110 section 9.2.2),
    /// according to the IANA registry. False for a method that is not in the registry.
    public var isIdempotent: Bool {
        isSafe || self == .put || self == .delete || HTTPMethod.idempotent.contains(self)
    }

    /// The other idempotent methods of the registry. Most of them belong to WebDAV.
    private static let idempotent: Set<HTTPMethod> = [
        "ACL", "BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "COPY", "LABEL", "LINK", "MERGE", "MKACTIVITY",
        "MKCALENDAR", "MKCOL", "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "ORDERPATCH", "PROPPATCH", "REBIND", "UNBIND",
        "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL",
    ]
}
