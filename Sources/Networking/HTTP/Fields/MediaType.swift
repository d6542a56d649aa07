/// A media type, [RFC 9110 section 8.3.1](https://www.rfc-editor.org/rfc/rfc9110#section-8.3.1): `text/html;
/// charset=utf-8`.
///
/// Type, subtype and parameter names are compared without regard to case. `MediaType(text)` and `description` are
/// each other's inverse for text that is a media type.
public struct MediaType: Sendable {
    /// The part before the slash, such as `text`; `*` in a range.
    public let type: String
    /// The part after the slash, such as `html`; `*` in a range.
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

    /// Type and subtype without parameters, in lower case: `text/html`.
    var essence: String { "\(type)/\(subtype)".lowercased() }

    /// Makes a media type of its parts: `MediaType("text", "html", ["charset": "utf-8"])`.
    public init(_ type: String, _ subtype: String, _ parameters: KeyValuePairs<String, String> = [:]) {
        self.init(type, subtype, parameters: parameters.map { Parameter($0.key, $0.value) })
    }

    init(_ type: String, _ subtype: String, parameters: [Parameter]) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters
    }

    /// Reads a media type; nil if the text is none.
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

    /// The value of the first parameter of that name.
    public subscript(parameter name: String) -> String? {
        parameters.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The `charset` parameter, in lower case.
    public var charset: String? { self[parameter: "charset"]?.lowercased() }

    /// The type without its parameters.
    public var withoutParameters: MediaType { MediaType(type, subtype) }

    /// The type with a charset in place of the one it has.
    func charset(_ charset: String) -> MediaType {
        let others = parameters.filter { $0.name.lowercased() != "charset" }
        return MediaType(type, subtype, parameters: others + [Parameter("charset", charset)])
    }

    /// Whether a response of type `other` satisfies this one as a range in `Accept` (RFC 9110 section 12.5.1): `*/*`
    /// and `text/*` take many. Parameters do not count.
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
    /// Whether two types are equal, without regard to the case of names and of the charset.
    public static func == (lhs: MediaType, rhs: MediaType) -> Bool {
        lhs.key == rhs.key
    }

    /// Hashes what equality compares.
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
    /// The type as it goes on the wire.
    public var description: String {
        parameters.reduce("\(type)/\(subtype)") { text, parameter in
            "\(text); \(parameter.name)=\(HTTPGrammar.tokenOrQuoted(parameter.value))"
        }
    }
}
