public import Foundation

/// The rule for the values that logs, curl commands, HAR files and reports show.
///
/// By default, the values of header fields that are known to be harmless are shown. All other header values, all query
/// values, user and password in a URL, and all bodies are hidden. Names are shown. Allow what you need:
///
/// ```swift
/// let redaction = Redaction.standard.allowing(headers: ["X-Tenant"], query: ["page", "sort"], fields: ["name"])
/// ```
///
/// The path is shown, so do not put secrets into the path. A field that is marked as sensitive (`Authorization`,
/// cookies, `isSensitive: true`) is shown by ``revealed`` only.
public struct Redaction: Sendable {
    /// The header fields whose values are shown. Nil: all.
    private(set) var headers: Set<HTTPHeader.Name>?
    /// The query items whose values are shown. Nil: all.
    private(set) var query: Set<String>?
    /// The names of the members of JSON bodies and forms whose values are shown. For all other members, only the name
    /// is shown, not the value. Nil: the complete body is shown. Empty: only the length and the media type are shown.
    /// Bodies of other media types are shown completely or not at all.
    private(set) var fields: Set<String>?
    /// Whether credentials are shown: fields that are marked as sensitive, and user and password in a URL.
    private let showsCredentials: Bool

    // The compiler's initializer would show everything by default, because nil is the default of an optional variable.
    init(
        headers: Set<HTTPHeader.Name>?, query: Set<String>?, fields: Set<String>?, showsCredentials: Bool = false
    ) {
        (self.headers, self.query, self.fields) = (headers, query, fields)
        self.showsCredentials = showsCredentials
    }

    /// A rule that shows the values of harmless header fields, no query value and no body.
    public static let standard = Redaction(headers: HTTPHeader.Name.harmless, query: [], fields: [])

    /// A rule that shows everything, including credentials. Use it for output that only the developer who runs the
    /// program can read, and for recordings that are replayed.
    public static let revealed = Redaction(headers: nil, query: nil, fields: nil, showsCredentials: true)

    /// Returns a rule that shows more.
    ///
    /// - Parameters:
    ///   - headers: Additional header fields whose values are shown.
    ///   - query: Additional query items whose values are shown.
    ///   - fields: Additional members of JSON bodies and forms whose values are shown.
    ///   - bodies: Whether whole bodies are shown. Default: false.
    public func allowing(
        headers: Set<HTTPHeader.Name> = [], query: Set<String> = [], fields: Set<String> = [], bodies: Bool = false
    ) -> Redaction {
        var redaction = self
        redaction.headers?.formUnion(headers)
        redaction.query?.formUnion(query)
        redaction.fields = bodies ? nil : self.fields?.union(fields)
        return redaction
    }

    /// The replacement of a hidden value.
    static let mark = "<redacted>"
    /// The replacement of a hidden value in a URL.
    static let urlMark = "REDACTED"

    /// Fields whose values are URLs.
    private static let addresses: Set<HTTPHeader.Name> = [.location, .contentLocation, "Referer"]
}

extension Redaction {
    /// Returns the value of a field, or the replacement if the value must be hidden.
    public func value(of field: HTTPHeader) -> String {
        if field.isSensitive { return showsCredentials ? field.value : Redaction.mark }
        if Redaction.addresses.contains(field.name) { return address(field.value) }
        return headers?.contains(field.name) ?? true ? field.value : Redaction.mark
    }

    /// Returns a URL as text, without user, password and fragment. The text contains the names in the query and the
    /// allowed values. A query of more than 8 KiB is hidden. With ``revealed``, the text is the complete URL.
    public func text(of url: URL) -> String { address(url.absoluteString) }

    private func address(_ text: String) -> String {
        guard !showsCredentials else { return text }
        let parts = text.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let base = URL.withoutSecrets(String(parts.first ?? ""))
        guard parts.count > 1 else { return base }
        // A long query is hidden, because the fields of a response are redacted on the thread that receives all
        // responses.
        guard parts[1].utf8.count <= 8_192 else { return "\(base)?\(Redaction.urlMark)" }
        return "\(base)?\(form(String(parts[1]), shown: query))"
    }

    /// Returns the items of a query or a form, with their names and the allowed values.
    private func form(_ text: String, shown: Set<String>?) -> String {
        guard CombiningMarks.areFew(in: text) else { return Redaction.urlMark }
        return text.split(separator: "&", omittingEmptySubsequences: false).map { item in
            if item.isEmpty { return "" }
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts.first.map(String.init) ?? ""
            let plain = name.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? name
            let value = parts.count > 1 ? parts[1] : ""
            // Some servers treat `;` as `&`.
            let isShown = shown.map { CombiningMarks.areFew(in: plain) && $0.contains(plain) } ?? true
            if isShown, !item.utf8.contains(UInt8(ascii: ";")) { return String(item) }
            // An item without a value is hidden, because its only word may be a secret. Base64 padding can make such a
            // word look like a name with an empty value. A name with unusual characters may also be a secret.
            let isName = name.utf8.allSatisfy { PercentEncoding.isUnreserved($0) || "%+[]$!'()*:@/,".utf8.contains($0) }
            let isHidden = value.utf8.allSatisfy { $0 == UInt8(ascii: "=") } || !isName
            return isHidden ? Redaction.urlMark : "\(name)=\(Redaction.urlMark)"
        }.joined(separator: "&")
    }

    /// Whether everything is shown, including credentials.
    package var isRevealed: Bool { showsCredentials }

    /// Whether nothing of a body is shown.
    package var hidesBodies: Bool { fields?.isEmpty == true }

    /// Whether complete bodies are shown.
    package var showsBodies: Bool { fields == nil }

    /// Returns the parts of a body that the rule allows, as text. If the body is not text or is hidden, returns its
    /// length and media type.
    ///
    /// - Parameters:
    ///   - body: The bytes of the body.
    ///   - type: The media type, if it is known.
    ///   - limit: The maximum number of bytes that are shown. Default: no limit.
    package func text(of body: Data, type: MediaType?, limit: Int = .max) -> String {
        guard !body.isEmpty else { return "" }
        guard let text = shown(body, type) else { return Redaction.summary(of: body.count, type) }
        return text.utf8.count > limit ? String(decoding: text.utf8.prefix(limit), as: UTF8.self) + "…" : text
    }

    /// Returns the text for a body that is not shown: its length and media type.
    package static func summary(of length: Int, _ type: MediaType?) -> String {
        "<\(length) bytes\(type.map { " of \($0.essence)" } ?? "")>"
    }

    /// Returns the part of a body that is shown. Nil if only the length and the media type are shown.
    private func shown(_ body: Data, _ type: MediaType?) -> String? {
        guard let fields else { return body.asText.flatMap { $0.utf8.contains(0) ? nil : $0 } }
        // Showing parts of a body requires parsing the whole body, so a large body is not shown.
        guard !fields.isEmpty, body.count <= 1 << 20 else { return nil }
        if type?.essence == MediaType.formURLEncoded.essence, let text = String(data: body, encoding: .utf8) {
            return form(text, shown: fields)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard type?.isJSON != false, let value = try? JSONValue(shallowJSON: body),
            let shown = try? encoder.encode(value.redacted(but: fields, isShown: false))
        else { return nil }
        return String(decoding: shown, as: UTF8.self)
    }
}

extension JSONValue {
    /// Returns the document with all values hidden except nulls and the values of the members in `names`.
    fileprivate func redacted(but names: Set<String>, isShown: Bool) -> JSONValue {
        switch self {
        case .object(let members):
            .object(
                members.reduce(into: [:]) {
                    $0[$1.key] = $1.value.redacted(but: names, isShown: names.contains($1.key))
                })
        case .array(let elements): .array(elements.map { $0.redacted(but: names, isShown: isShown) })
        default: isShown || self == .null ? self : .string(Redaction.mark)
        }
    }
}

extension Data {
    /// The bytes as text, if the text can be encoded to exactly these bytes. Otherwise nil, for example if the bytes
    /// begin with a byte-order mark, which a `String` would lose.
    var asText: String? {
        starts(with: [0xEF, 0xBB, 0xBF]) ? nil : String(data: self, encoding: .utf8)
    }
}
