import Foundation

/// Credentials in an `Authorization` field, [RFC 9110 section 11.4](https://www.rfc-editor.org/rfc/rfc9110#section-11.4).
///
/// `HTTPAuthorization(text)` and `description` are each other's inverse. Its debug description hides the secret; its
/// `description` is the field's value and does not.
public enum HTTPAuthorization: Hashable, Sendable {
    /// A bearer token (RFC 6750).
    case bearer(String)
    /// User name and password (RFC 7617); a user name with a colon cannot be told from its password by the server.
    case basic(username: String, password: String)
    /// Any other scheme, with its credentials as they stand.
    case custom(scheme: String, credentials: String)

    /// Reads a field value; nil where it has no scheme, or says `Basic` and cannot be decoded.
    public init?(_ value: String) {
        var scanner = HTTPFieldScanner(value)
        guard let scheme = scanner.token() else { return nil }
        scanner.skipBlanks()
        let credentials = scanner.text { _ in true } ?? ""
        switch scheme.lowercased() {
        case "bearer":
            self = .bearer(credentials)
        case "basic":
            guard let decoded = Data(base64Encoded: credentials).flatMap({ String(data: $0, encoding: .utf8) }),
                let colon = decoded.firstIndex(of: ":")
            else { return nil }
            self = .basic(
                username: String(decoded[..<colon]), password: String(decoded[decoded.index(after: colon)...]))
        default:
            self = .custom(scheme: scheme, credentials: credentials)
        }
    }

    /// The scheme: `Bearer`, `Basic`, or the custom one.
    public var scheme: String {
        switch self {
        case .bearer: "Bearer"
        case .basic: "Basic"
        case .custom(let scheme, _): scheme
        }
    }
}

extension HTTPAuthorization: LosslessStringConvertible, CustomDebugStringConvertible {
    /// The field's value, secret included.
    public var description: String {
        switch self {
        case .bearer(let token):
            "Bearer \(token)"
        case .basic(let username, let password):
            "Basic \(Data("\(username):\(password)".utf8).base64EncodedString())"
        case .custom(let scheme, let credentials):
            scheme.isEmpty || credentials.isEmpty ? scheme + credentials : "\(scheme) \(credentials)"
        }
    }

    /// The scheme and `<redacted>`.
    public var debugDescription: String { "\(scheme) <redacted>" }
}
