import Foundation

/// One header field: a name and its value.
///
/// Common fields have factory methods: `.accept(.json)`, `.userAgent(product: "Shop", version: "3.1")`.
public struct HTTPHeader: Hashable, Sendable {
    /// The field's name.
    public let name: HTTPHeader.Name
    /// The field value, as it is sent.
    public let value: String
    /// Whether the value is known to be a credential.
    ///
    /// The flag is false for a field with an unknown name. Descriptions hide the value of such a field as well, because
    /// they show a whole value only if the name is known to be harmless. If the value is a URL, descriptions hide only
    /// its secret parts. A request to another origin (by a redirect, a retry or an adapter) loses fields with secret
    /// values. It keeps `Idempotency-Key`, `Prefer`, `Last-Event-ID` and `X-HTTP-Method-Override`, because it would
    /// have another meaning without them. Set this flag if a field with a harmless name contains a secret in your app.
    package let isSensitive: Bool
    /// The part of the library that has added the field. If other code replaces the field, the new field has another
    /// source.
    private(set) var source = Source.any

    /// The code that has added a field. Fields of the environment, of a converter and of a session are treated
    /// differently from fields of the app.
    enum Source: Sendable {
        /// The app, or a part of the library whose fields are treated like those of the app.
        case any
        /// The environment of a service. The field is sent only to the environment's origin.
        case environment
        /// A converter, because the request had no such field.
        case converter
        /// A session: the value is the session's token. The cache treats all tokens of one user as equal. The user is
        /// nil if the token's owner is not known.
        case session(User?)
    }

    /// The user of a session.
    final class User: Sendable {
        /// The id of the session, which all its tokens share.
        let id: String

        init(_ id: String) {
            self.id = id
        }
    }

    /// Whether the environment of a service has added the field.
    var isFromEnvironment: Bool { if case .environment = source { true } else { false } }

    /// Whether a converter has added the field.
    var isFromConverter: Bool { if case .converter = source { true } else { false } }

    /// Whether a session has added the field.
    var isFromSession: Bool { if case .session = source { true } else { false } }

    /// The user for whom a session has added the field; nil for other fields.
    var user: User? { if case .session(let user) = source { user } else { nil } }

    /// Creates a field.
    ///
    /// - Parameters:
    ///   - name: The field name.
    ///   - value: The field value. If it contains a control character other than TAB, sending the request fails.
    ///   - isSensitive: Whether the value is a credential. Default: false. `Authorization`, `Cookie` and other known
    ///     names are always sensitive.
    public init(_ name: HTTPHeader.Name, _ value: String, isSensitive: Bool = false) {
        self.name = name
        self.value = value
        self.isSensitive = isSensitive || name.isSensitive
    }

    /// Returns the same field with another source.
    consuming func from(_ source: consuming Source) -> HTTPHeader {
        self.source = source
        return self
    }

    /// Whether two fields have the same name, value and sensitivity.
    public static func == (lhs: HTTPHeader, rhs: HTTPHeader) -> Bool {
        lhs.name == rhs.name && lhs.value == rhs.value && lhs.isSensitive == rhs.isSensitive
    }

    /// Hashes the name, the value and the sensitivity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(value)
        hasher.combine(isSensitive)
    }

    /// Returns an `Authorization` field with typed credentials (RFC 9110 section 11.6.2).
    public static func authorization(_ authorization: HTTPAuthorization) -> HTTPHeader {
        HTTPHeader(.authorization, authorization.fieldValue)
    }

    /// Returns an `Accept` field (RFC 9110 section 12.5.1).
    public static func accept(_ types: MediaType...) -> HTTPHeader {
        HTTPHeader(.accept, types.map(\.description).joined(separator: ", "))
    }

    /// Returns an `Accept-Language` field (RFC 9110 section 12.5.4): `en-GB, de;q=0.9`. The first language has the
    /// highest preference. Only the first six languages are sent.
    public static func acceptLanguage(_ languages: [String]) -> HTTPHeader {
        let ranked = languages.prefix(6).enumerated().map { rank, language in
            rank == 0 ? language : "\(language);q=0.\(10 - rank)"
        }
        return HTTPHeader(.acceptLanguage, ranked.joined(separator: ", "))
    }

    /// Returns a `Content-Type` field (RFC 9110 section 8.3).
    public static func contentType(_ type: MediaType) -> HTTPHeader {
        HTTPHeader(.contentType, type.description)
    }
}

extension HTTPHeader {
    /// Whether the value may identify the user: the value is a credential, or values of this field name may identify a
    /// user.
    var mayIdentifyUser: Bool { isSensitive || name.mayIdentifyUser }
}

extension HTTPHeader: RedactedReflectable {
    /// `Name: value`. `<redacted>` replaces a value that is not known to be harmless.
    var redactedDescription: String { "\(name): \(isSensitive ? "<redacted>" : shownValue)".onOneLine }

    /// The value if it is harmless. A URL is shown without user, password, query and fragment. Everything after the
    /// first `?` or `#` of the value is omitted.
    private var shownValue: String {
        guard HTTPHeader.namesOfURLs.contains(name) else { return name.isHarmless ? value : "<redacted>" }
        return URL.withoutUsers(value) + (value.utf8.contains(UInt8(ascii: "?")) ? "?<redacted>" : "")
    }

    private static let namesOfURLs: Set<HTTPHeader.Name> = [
        .location, "Content-Location", "Referer", "Link", "Refresh",
    ]
}

/// The lexical rules of [RFC 9110 section 5.6](https://www.rfc-editor.org/rfc/rfc9110#section-5.6), applied to bytes.
enum HTTPGrammar {
    /// Whether the text is a token, which is the syntax of methods and field names.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && checkBytes(of: text) { bytes in bytes.allSatisfy { isTokenByte($0) } }
    }

    /// Returns the result of checking a text's bytes. The bytes are copied only if they are not contiguous.
    private static func checkBytes<Result>(of text: String, _ check: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = text.utf8.withContiguousStorageIfAvailable(check) { return result }
        var copy = text
        return copy.withUTF8(check)
    }

    /// Whether the text is a valid field value: it is field content, and neither begins nor ends with a blank.
    static func isFieldValue(_ text: String) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, let last = bytes.last else { return true }
        return !isBlank(first) && !isBlank(last) && isFieldContent(text)
    }

    /// Whether the text is free of line separators and of control characters other than the tab. Among these control
    /// characters are CR, LF and NUL, and also U+0080 to U+009F, which some programs treat as ends of lines.
    static func isFieldContent(_ text: String) -> Bool {
        // The loop does not end early, so that the compiler can compare many bytes at once.
        let (isValid, isASCII) = checkBytes(of: text) { bytes in
            var (faults, all) = (UInt8(0), UInt8(0))
            for byte in bytes {
                faults |= (byte < 0x20 ? byte != 0x09 : byte == 0x7F) ? 1 : 0
                all |= byte
            }
            return (faults == 0, all < 0x80)
        }
        return isValid && (isASCII || !text.unicodeScalars.contains { $0.isControl && $0 != "\t" })
    }

    /// Whether the text begins with the type and subtype of a media type, RFC 9110 section 8.3.1.
    static func isMediaType(_ text: String) -> Bool {
        let rest = text.utf8.drop(while: isTokenByte)
        guard rest.startIndex > text.startIndex, rest.first == UInt8(ascii: "/") else { return false }
        return rest.dropFirst().first.map(isTokenByte) ?? false
    }

    /// Whether the text is a host with an optional port, RFC 9110 section 7.2.
    static func isHost(_ text: String) -> Bool {
        let isBracketed = text.first == "["
        let host = text.prefix { isBracketed ? $0 != "]" : $0 != ":" }
        var rest = text[host.endIndex...]
        if isBracketed, rest.popFirst() == nil { return false }
        guard rest.isEmpty || rest.popFirst() == ":", rest.utf8.allSatisfy(isDigit), rest.utf8.count <= 5 else {
            return false
        }
        let name = host.utf8.dropFirst(isBracketed ? 1 : 0)
        return !name.isEmpty
            && name.allSatisfy {
                isAlphanumeric($0) || "-._~%!$&'()*+;=".utf8.contains($0) || isBracketed && $0 == UInt8(ascii: ":")
            }
    }

    /// Whether the byte is an ASCII letter or digit, or one of ! # $ % & ' * + - . ^ _ ` | ~ (RFC 9110 section 5.6.2).
    static func isTokenByte(_ byte: UInt8) -> Bool {
        // One bit for each byte: the first set is for the bytes below 64, the second set for the others. The check must
        // be fast, because it runs for the name of every field.
        let set: UInt64 = byte < 64 ? 0x3FF6CFA00000000 : 0x57FFFFFFC7FFFFFE
        return byte < 0x80 && set >> UInt64(byte & 63) & 1 == 1
    }

    /// Whether the byte is an ASCII letter or digit.
    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Returns the number that a text of digits represents. Returns nil if the text contains another character, such as
    /// a sign, or if the number is too large.
    static func number<Number: FixedWidthInteger>(_ text: some StringProtocol) -> Number? {
        text.utf8.allSatisfy(isDigit) ? Number(text) : nil
    }

    static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }

    /// Whether two byte sequences are equal, ignoring the case of ASCII letters.
    static func isEqualIgnoringCase(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        left.elementsEqual(right) { $0 == $1 || lowercased($0) == lowercased($1) }
    }

    /// Returns the text as a quoted-string.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        // Iterates over scalars, because a quote with a combining mark is not the `Character` `"`, although its first
        // byte is a quote.
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }

    /// Returns the text unchanged if it is a token, otherwise as a quoted-string.
    static func tokenOrQuoted(_ text: String) -> String {
        isToken(text) ? text : quoted(text)
    }
}
