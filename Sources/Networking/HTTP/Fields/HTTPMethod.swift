/// A request method, [RFC 9110 section 9](https://www.rfc-editor.org/rfc/rfc9110#section-9).
///
/// Any token is a method: `HTTPMethod("PROPFIND")`. Methods are case-sensitive. A name that is no token is refused
/// when the request is sent, with ``NetworkError/Kind/invalidRequest``.
public struct HTTPMethod: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The method as it goes on the wire.
    public let rawValue: String

    /// Makes a method of its name.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// Makes a method of its name.
    public init(stringLiteral value: String) {
        self.rawValue = value
    }

    /// The method as it goes on the wire.
    public var description: String { rawValue }

    /// Asks for a representation (RFC 9110 section 9.3.1).
    public static let get = HTTPMethod("GET")
    /// Asks for what GET would say, without the content (RFC 9110 section 9.3.2).
    public static let head = HTTPMethod("HEAD")
    /// Has the resource process the content (RFC 9110 section 9.3.3).
    public static let post = HTTPMethod("POST")
    /// Replaces the resource's state by the content (RFC 9110 section 9.3.4).
    public static let put = HTTPMethod("PUT")
    /// Removes the resource's current representation (RFC 9110 section 9.3.5).
    public static let delete = HTTPMethod("DELETE")
    /// Opens a tunnel (RFC 9110 section 9.3.6).
    static let connect = HTTPMethod("CONNECT")
    /// Asks for the communication options (RFC 9110 section 9.3.7).
    public static let options = HTTPMethod("OPTIONS")
    /// Asks for a loop-back of the request (RFC 9110 section 9.3.8).
    static let trace = HTTPMethod("TRACE")
    /// Changes a resource in part (RFC 5789).
    public static let patch = HTTPMethod("PATCH")
    /// A safe query with content (the QUERY method).
    public static let query = HTTPMethod("QUERY")

    /// Whether the method only reads (RFC 9110 section 9.2.1).
    public var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace, .query: true
        default: false
        }
    }

    /// Whether a request without content has to say so, by `Content-Length: 0` (RFC 9110 section 8.6).
    var expectsContent: Bool {
        self == .post || self == .put || self == .patch
    }

    /// Whether doing it twice is meant to have the effect of doing it once (RFC 9110 section 9.2.2).
    public var isIdempotent: Bool {
        isSafe || self == .put || self == .delete
    }
}
