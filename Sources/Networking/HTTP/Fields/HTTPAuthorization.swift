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
            "Bearer " + token
        case .basic(let username, let password):
            "Basic \(Data("\(username):\(password)".utf8).base64EncodedString())"
        case .custom(let scheme, let credentials):
            scheme.isEmpty || credentials.isEmpty ? scheme + credentials : scheme + " " + credentials
        }
    }
}

extension HTTPAuthorization: RedactedReflectable {
    /// The scheme, followed by `<redacted>`.
    var redactedDescription: String { "\(scheme) <redacted>" }
    var reflectedMembers: KeyValuePairs<String, Any> { ["scheme": scheme] }
}

extension HTTPHeaders {
    /// One challenge of a `WWW-Authenticate` field, [RFC 9110 section
    /// 11.3](https://www.rfc-editor.org/rfc/rfc9110#section-11.3).
    package struct Challenge: Hashable, Sendable {
        /// The scheme, such as `Bearer`, as the server spells it.
        package let scheme: String
        /// The `token68` value; nil if the challenge has parameters instead.
        package private(set) var token68: String?
        /// The parameters, with their names in lower case. If a name occurs twice, the first value is used.
        package private(set) var parameters: [String: String] = [:]

        /// The name of the protection space.
        var realm: String? { parameters["realm"] }

        /// The `error` parameter of a bearer challenge (RFC 6750 section 3.1), such as `invalid_token`.
        var error: String? { parameters["error"] }

        /// Parses the challenges of a field value. Stops at the first malformed challenge, and returns the challenges
        /// before it.
        static func parse(_ value: String) -> [HTTPHeaders.Challenge] {
            HTTPFieldScanner.elements(of: value, parseOne)
        }

        private static func parseOne(_ scanner: inout HTTPFieldScanner) -> HTTPHeaders.Challenge? {
            guard let scheme = scanner.token() else { return nil }
            scanner.skipBlanks()
            var challenge = HTTPHeaders.Challenge(scheme: scheme, token68: loneToken68(&scanner))
            guard challenge.token68 == nil else { return challenge }
            scanner.skipSeparators()
            while let (name, value) = scanner.parameter() {
                let name = name.lowercased()
                challenge.parameters[name] = challenge.parameters[name] ?? value
                scanner.skipSeparators()
            }
            return challenge
        }

        /// Reads a token68 if the end of the value or a comma follows it. Otherwise, the text is a parameter such as
        /// `realm=x` or the next scheme, and the method returns nil.
        private static func loneToken68(_ scanner: inout HTTPFieldScanner) -> String? {
            var rest = scanner
            guard let token = rest.token68() else { return nil }
            rest.skipBlanks()
            guard rest.isAtEnd || rest.next == UInt8(ascii: ",") else { return nil }
            scanner = rest
            return token
        }
    }
}
