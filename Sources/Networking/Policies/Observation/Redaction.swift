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
    /// The names whose values are shown.
    enum Names<Name: Hashable & Sendable>: Sendable {
        /// All names.
        case all
        /// Only these names.
        case only(Set<Name>)

        func contains(_ name: Name) -> Bool {
            switch self {
            case .all: true
            case .only(let names): names.contains(name)
            }
        }

        fileprivate func adding(_ names: Set<Name>) -> Names {
            switch self {
            case .all: .all
            case .only(let own): .only(own.union(names))
            }
        }
    }

    /// The part of a body that is shown.
    enum Bodies: Sendable {
        /// The length and the media type of the body.
        case hidden
        /// For a JSON document or a form: all names, and the values whose names are in this set. For other bodies: the
        /// length and the media type.
        case fields(Set<String>)
        /// The complete body.
        case shown
    }

    /// The header fields whose values are shown.
    var headers: Names<HTTPHeader.Name>
    /// The query items whose values are shown.
    var query: Names<String>
    /// The part of bodies that is shown.
    var bodies: Bodies
    /// Whether fields that are marked as sensitive, and user and password in a URL, are shown.
    private var showsCredentials = false

    /// Creates a rule from its parts.
    init(headers: Names<HTTPHeader.Name>, query: Names<String>, bodies: Bodies) {
        self.headers = headers
        self.query = query
        self.bodies = bodies
    }

    /// A rule that shows the values of harmless header fields, no query value and no body.
    public static let standard = Redaction(headers: .only(HTTPHeader.Name.harmless), query: .only([]), bodies: .hidden)

    /// A rule that shows everything, including credentials. Use it for output that only the developer who runs the
    /// program can read, and for recordings that are replayed.
    public static let revealed: Redaction = {
        var redaction = Redaction(headers: .all, query: .all, bodies: .shown)
        redaction.showsCredentials = true
        return redaction
    }()

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
        redaction.headers = self.headers.adding(headers)
        redaction.query = self.query.adding(query)
        if bodies {
            redaction.bodies = .shown
        } else if !fields.isEmpty {
            switch self.bodies {
            case .hidden: redaction.bodies = .fields(fields)
            case .fields(let own): redaction.bodies = .fields(own.union(fields))
            case .shown: break
            }
        }
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
    /// Returns the value of a field, or its replacement if it must be hidden.
    public func value(of field: HTTPHeader) -> String {
        if field.isSensitive { return showsCredentials ? field.value : Redaction.mark }
        if Redaction.addresses.contains(field.name) { return address(field.value) }
        return headers.contains(field.name) ? field.value : Redaction.mark
    }

    /// Returns a URL as text, without user, password and fragment. The text contains the names in the query and the
    /// allowed values. With ``revealed``, the text is the complete URL.
    public func text(of url: URL) -> String { address(url.absoluteString) }

    private func address(_ text: String) -> String {
        guard !showsCredentials else { return text }
        let parts = text.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let base = URL.withoutSecrets(String(parts.first ?? ""))
        return parts.count < 2 ? base : "\(base)?\(form(String(parts[1]), shown: query, mark: Redaction.urlMark))"
    }

    /// Returns the items of a query or a form, with their names and the allowed values.
    private func form(_ text: String, shown: Names<String>, mark: String) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts.first.map(String.init) ?? ""
            let plain = name.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? name
            let value = parts.count > 1 ? parts[1] : ""
            // Some servers treat `;` as `&`.
            if shown.contains(plain), !item.contains(";") { return String(item) }
            // An item without a value is hidden, because its only word may be a secret. Base64 padding can make such a
            // word look like a name with an empty value. A name with unusual characters may also be a secret.
            let isName = name.utf8.allSatisfy { PercentEncoding.isUnreserved($0) || "%+[]$!'()*:@/,".utf8.contains($0) }
            return item.isEmpty
                ? "" : value.isEmpty || value.allSatisfy { $0 == "=" } || !isName ? mark : "\(name)=\(mark)"
        }.joined(separator: "&")
    }

    /// Whether complete bodies are shown.
    var showsBodies: Bool { if case .shown = bodies { true } else { false } }

    /// Returns the parts of a body that the rule allows, as text. If the body is not text or is hidden, returns its
    /// length and media type.
    ///
    /// - Parameters:
    ///   - body: The bytes of the body.
    ///   - type: The media type, if it is known.
    ///   - limit: The maximum number of bytes that are shown. Default: no limit.
    package func text(of body: Data, type: MediaType?, limit: Int = .max) -> String {
        guard !body.isEmpty else { return "" }
        let summary = "<\(body.count) bytes\(type.map { " of \($0.essence)" } ?? "")>"
        switch bodies {
        case .hidden:
            return summary
        case .shown:
            guard let text = body.asText, !text.contains("\0") else { return summary }
            return Redaction.beginning(of: text, limit)
        case .fields(let names):
            return redacted(body, type, names).map { Redaction.beginning(of: $0, limit) } ?? summary
        }
    }

    private static func beginning(of text: String, _ limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        return String(decoding: text.utf8.prefix(limit), as: UTF8.self) + "…"
    }

    private func redacted(_ body: Data, _ type: MediaType?, _ names: Set<String>) -> String? {
        if type?.essence == MediaType.formURLEncoded.essence, let text = String(data: body, encoding: .utf8) {
            return form(text, shown: .only(names), mark: Redaction.urlMark)
        }
        guard type?.isJSON != false, let value = try? JSONDecoder().decode(JSONValue.self, from: body) else {
            return nil
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let shown = (try? encoder.encode(value.redacted(but: names, isShown: false))) ?? Data()
        return String(decoding: shown, as: UTF8.self)
    }
}

extension JSONValue {
    /// Returns the document with all values hidden except nulls and the values of the members in `names`.
    fileprivate func redacted(but names: Set<String>, isShown: Bool) -> JSONValue {
        switch self {
        case .object(let members):
            .object(
                Dictionary(
                    members.map { ($0.key, $0.value.redacted(but: names, isShown: names.contains($0.key))) },
                    uniquingKeysWith: { first, _ in first }))
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
