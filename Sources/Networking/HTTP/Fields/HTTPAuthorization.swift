import Foundation

/// The credentials of an `Authorization` field, [RFC 9110 section
/// 11.4](https://www.rfc-editor.org/rfc/rfc9110#section-11.4).
///
/// `HTTPAuthorization(text)` parses a text that ``fieldValue`` returns. The descriptions of this type hide the secret.
public enum HTTPAuthorization: Hashable, Sendable {
    /// A bearer token (RFC 6750).
    case bearer(String)
    /// A user name and a password (RFC 7617). The user name must not contain a colon, because the server reads the text
    /// before the first colon as the user name.
    case basic(username: String, password: String)
    /// Any other scheme, with its unparsed credentials.
    case custom(scheme: String, credentials: String)

    /// Parses a field value. Returns nil if it has no scheme, or if its scheme is `Basic` and its credentials cannot be
    /// decoded.
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

    /// The name of the scheme: `Bearer`, `Basic` or the custom scheme.
    package var scheme: String {
        switch self {
        case .bearer: "Bearer"
        case .basic: "Basic"
        case .custom(let scheme, _): scheme
        }
    }
}

extension HTTPAuthorization {
    /// The field value, including the secret.
    public var fieldValue: String {
        switch self {
        case .bearer(let token):
            "Bearer \(token)"
        case .basic(let username, let password):
            "Basic \(Data("\(username):\(password)".utf8).base64EncodedString())"
        case .custom(let scheme, let credentials):
            scheme.isEmpty || credentials.isEmpty ? scheme + credentials : "\(scheme) \(credentials)"
        }
    }

}

extension HTTPAuthorization: RedactedReflectable {
    /// The scheme, followed by `<redacted>`.
    var redactedDescription: String { "\(scheme) <redacted>" }
    var reflectedMembers: KeyValuePairs<String, Any> { ["scheme": scheme] }
}
