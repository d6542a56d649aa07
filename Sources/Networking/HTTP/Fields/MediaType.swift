/// A media type, [RFC 9110 section 8.3.1](https://www.rfc-editor.org/rfc/rfc9110#section-8.3.1), such as
/// `text/html; charset=utf-8`.
///
/// The type, the subtype and parameter names are compared without regard to case. `MediaType(text)` parses a text that
/// `description` returns.
public struct MediaType: Sendable {
    /// The part before the slash, such as `text`; `*` in a media range.
    public let type: String
    /// The part after the slash, such as `html`; `*` in a media range.
    public let subtype: String
    /// The parameters, in order.
    let parameters: [Parameter]

    /// A parameter such as `charset=utf-8`.
    struct Parameter: Hashable, Sendable {
        let name: String
        /// The value, without quotes.
        let value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The type and subtype without parameters, in lower case: `text/html`.
    var essence: String { "\(type)/\(subtype)".lowercased() }

    /// Creates a media type from its parts: `MediaType("text", "html", ["charset": "utf-8"])`.
    public init(_ type: String, _ subtype: String, _ parameters: KeyValuePairs<String, String> = [:]) {
        self.init(type, subtype, parameters: parameters.map { Parameter($0.key, $0.value) })
    }

    init(_ type: String, _ subtype: String, parameters: [Parameter]) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters
    }

    /// Parses a media type. Returns nil if the text is not a media type.
    public init?(_ text: String) {
        var scanner = HTTPFieldScanner(text)
        scanner.skipBlanks()
        guard let type = scanner.token(), scanner.skip("/"), let subtype = scanner.token() else { return nil }
        var parameters: [Parameter] = []
        while true {
            scanner.skipBlanks()
            if scanner.isAtEnd { break }
            guard scanner.skip(";") else { return nil }
            scanner.skipBlanks()
            if scanner.isAtEnd || scanner.next == UInt8(ascii: ";") { continue }
            guard let parameter = scanner.parameter() else { return nil }
            parameters.append(Parameter(parameter.name, parameter.value))
        }
        self.init(type, subtype, parameters: parameters)
    }

    /// The value of the first parameter with this name, ignoring case; nil if there is no such parameter.
    public subscript(parameter name: String) -> String? {
        parameters.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The `charset` parameter, in lower case; nil if there is none.
    public var charset: String? { self[parameter: "charset"]?.lowercased() }

    /// The media type without its parameters.
    public var withoutParameters: MediaType { MediaType(type, subtype) }

    /// Returns the media type with this charset, which replaces an existing `charset` parameter.
    func charset(_ charset: String) -> MediaType {
        let others = parameters.filter { $0.name.lowercased() != "charset" }
        return MediaType(type, subtype, parameters: others + [Parameter("charset", charset)])
    }

    /// Returns whether `other` matches this media range of `Accept` (RFC 9110 section 12.5.1), which may contain
    /// wildcards: `*/*`, `text/*`. Parameters are ignored.
    public func accepts(_ other: MediaType) -> Bool {
        if type == "*" { return true }
        guard type.lowercased() == other.type.lowercased() else { return false }
        return subtype == "*" || subtype.lowercased() == other.subtype.lowercased()
    }

    /// Whether the content is JSON: `application/json` or a type with the suffix `+json` (RFC 6839).
    public var isJSON: Bool {
        let name = subtype.lowercased()
        return name == "json" || name.hasSuffix("+json")
    }
}

extension MediaType: Hashable {
    /// Whether two media types are equal, ignoring the case of names and of the charset.
    public static func == (lhs: MediaType, rhs: MediaType) -> Bool {
        lhs.key == rhs.key
    }

    /// Hashes the parts that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
    }

    private var key: [String] {
        [type.lowercased(), subtype.lowercased()]
            + parameters.flatMap { parameter in
                let name = parameter.name.lowercased()
                return [name, name == "charset" ? parameter.value.lowercased() : parameter.value]
            }
    }
}

extension MediaType: LosslessStringConvertible {
    /// The media type, as it is sent.
    public var description: String {
        parameters.reduce("\(type)/\(subtype)") { text, parameter in
            "\(text); \(parameter.name)=\(HTTPGrammar.tokenOrQuoted(parameter.value))"
        }
    }
}
