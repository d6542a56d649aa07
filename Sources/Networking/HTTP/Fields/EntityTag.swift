import Foundation

/// An entity tag, [RFC 9110 section 8.8.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3).
struct EntityTag: Equatable, Sendable {
    /// The maximum length of a validator that is sent back to a server, in bytes. The server or the target of a
    /// redirect could refuse every request that contains a longer validator.
    static let largest = 1_024

    let isWeak: Bool
    private let text: String

    init(_ text: some StringProtocol) {
        let text = text.trimmingCharacters(in: .whitespaces)
        isWeak = text.hasPrefix("W/")
        self.text = isWeak ? String(text.dropFirst(2)) : text
    }

    /// Parses a list of entity tags. A tag itself may contain commas.
    static func list(_ text: String) -> [EntityTag] {
        var isQuoted = false
        return text.split {
            if $0 == "\"" { isQuoted.toggle() }
            return $0 == "," && !isQuoted
        }
        .map { EntityTag($0) }
    }

    /// Whether the text is an entity tag that can be sent: it is quoted, and there are no quotation marks, spaces or
    /// control characters between the quotes.
    var isValid: Bool {
        let bytes = text.utf8
        return bytes.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"") && HTTPGrammar.isFieldContent(text)
            && bytes.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\"") }
    }

    func isWeaklyEqual(to other: EntityTag) -> Bool { text == other.text }
    func isStronglyEqual(to other: EntityTag) -> Bool { text == other.text && !isWeak && !other.isWeak }
}

extension HTTPHeaders {
    /// The strong validator, which changes whenever a byte of the content changes: the entity tag, or the time of
    /// `Last-Modified` if there is no entity tag.
    var strongValidator: String? { contains(.eTag) ? strongTag : strongTime }

    /// The entity tag, if it is one tag and not weak (RFC 9110 section 8.8.3).
    var strongTag: String? {
        // The text is sent unchanged, so it must not begin or end with a space of any kind.
        guard let text = self[.eTag], text.utf8.count <= EntityTag.largest, text.hasPrefix("\""), text.hasSuffix("\"")
        else { return nil }
        return EntityTag(text).isValid ? text : nil
    }

    /// The time of `Last-Modified`, if it is at least one second before the response's `Date` (RFC 9110 section
    /// 8.8.2.2).
    var strongTime: String? {
        guard let text = self[.lastModified], let changed = HTTPDate(text), let date, changed.date < date
        else { return nil }
        return text
    }

    /// Whether the server executes the request only if the resource is in a certain state. If such a request is sent
    /// twice, the server refuses the second request, because the first request has changed the state.
    var hasWriteCondition: Bool { contains(.ifMatch) || contains(.ifUnmodifiedSince) }
}
