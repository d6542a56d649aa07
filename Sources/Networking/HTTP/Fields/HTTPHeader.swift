import Foundation

/// One header field: a name and its value.
///
/// Common fields have a ready form: `.accept(.json)`, `.userAgent(product: "Shop", version: "3.1")`.
public struct HTTPHeader: Hashable, Sendable {
    /// The field's name.
    public let name: HTTPHeader.Name
    /// The field's value, as it goes on the wire.
    public let value: String
    /// Whether the value is known to be a credential. Every other value that is not known to be harmless is treated
    /// alike: no text of the library shows it, and a redirect to another origin leaves it behind. A harmless field
    /// that carries a secret in your app needs the mark.
    package let isSensitive: Bool

    /// Makes a field.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - value: Its value. CR, LF, NUL and other control characters are refused when the request is sent.
    ///   - isSensitive: Whether it is a credential. `Authorization`, `Cookie` and other known names always are.
    public init(_ name: HTTPHeader.Name, _ value: String, isSensitive: Bool = false) {
        self.name = name
        self.value = value
        self.isSensitive = isSensitive || name.isSensitive
    }

    /// `Authorization` with typed credentials (RFC 9110 section 11.6.2).
    public static func authorization(_ authorization: HTTPAuthorization) -> HTTPHeader {
        HTTPHeader(.authorization, authorization.fieldValue)
    }

    /// `Accept` (RFC 9110 section 12.5.1).
    public static func accept(_ types: MediaType...) -> HTTPHeader {
        HTTPHeader(.accept, types.map(\.description).joined(separator: ", "))
    }

    /// `Accept-Language` (RFC 9110 section 12.5.4), the first language preferred: `en-GB, de;q=0.9`.
    public static func acceptLanguage(_ languages: [String]) -> HTTPHeader {
        let ranked = languages.prefix(6).enumerated().map { rank, language in
            rank == 0 ? language : "\(language);q=0.\(10 - rank)"
        }
        return HTTPHeader(.acceptLanguage, ranked.joined(separator: ", "))
    }

    /// `Content-Type` (RFC 9110 section 8.3).
    public static func contentType(_ type: MediaType) -> HTTPHeader {
        HTTPHeader(.contentType, type.description)
    }
}

extension HTTPHeader {
    /// Whether the value may say who the user is: a credential, or one whose meaning is not known.
    var mayIdentifyUser: Bool { isSensitive || name.mayIdentifyUser }
}

extension HTTPHeader: RedactedReflectable {
    /// `Name: value`, with `<redacted>` in place of a value that is not known to be harmless.
    var redactedDescription: String { "\(name): \(isSensitive ? "<redacted>" : shownValue)" }

    /// The value if it is harmless; of a URL what is left without user, password, query and fragment.
    private var shownValue: String {
        guard HTTPHeader.namesOfURLs.contains(name) else { return name.isHarmless ? value : "<redacted>" }
        var shown = value.prefix { $0 != "?" && $0 != "#" }
        if let start = shown.range(of: "//")?.upperBound {
            let authority = shown[start...].prefix { $0 != "/" }
            if let end = authority.lastIndex(of: "@") { shown.removeSubrange(start...end) }
        }
        return String(shown) + (value.contains { $0 == "?" } ? "?<redacted>" : "")
    }

    private static let namesOfURLs: Set<HTTPHeader.Name> = [
        .location, "Content-Location", "Referer", "Link", "Refresh",
    ]
}
