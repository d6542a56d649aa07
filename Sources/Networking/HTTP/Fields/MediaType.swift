import Foundation

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
    }

    /// The type and subtype without parameters, in lower case: `text/html`.
    var essence: String { "\(type)/\(subtype)".lowercased() }

    /// Creates a media type from its parts: `MediaType("text", "html", ["charset": "utf-8"])`.
    public init(_ type: String, _ subtype: String, _ parameters: KeyValuePairs<String, String> = [:]) {
        self.init(type, subtype, parameters: parameters.map { Parameter(name: $0.key, value: $0.value) })
    }

    init(_ type: String, _ subtype: String, parameters: [Parameter]) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters
    }

    /// Parses a media type. Returns nil if the text is not a media type, or if a parameter contains a control character
    /// or a character that changes the text direction.
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
            guard let parameter = scanner.parameter(), parameter.value == parameter.value.onOneLine else { return nil }
            parameters.append(Parameter(name: parameter.name, value: parameter.value))
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
        return MediaType(type, subtype, parameters: others + [Parameter(name: "charset", value: charset)])
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

    /// Whether the content is a form. A server cannot read a form without its media type.
    var isForm: Bool { type.lowercased() == "multipart" || essence == "application/x-www-form-urlencoded" }

    /// Whether a form with the media type `form` can also be sent with this media type. A multipart form requires the
    /// same boundary.
    func describesForm(_ form: MediaType) -> Bool {
        guard form.type.lowercased() == "multipart" else { return essence == form.essence }
        return type.lowercased() == "multipart" && self[parameter: "boundary"] == form[parameter: "boundary"]
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
        (["\(type)/\(subtype)"] + parameters.map { "\($0.name)=\(HTTPGrammar.tokenOrQuoted($0.value))" })
            .joined(separator: "; ")
    }
}

extension MediaType: ExpressibleByStringLiteral {
    /// Creates a media type from a literal: `"audio/mpeg"`. If the literal is not a media type, sending a body of this
    /// type fails with ``NetworkError/Kind/invalidRequest`` or ``NetworkError/Kind/bodyNotEncodable``.
    public init(stringLiteral text: String) {
        self = MediaType(text) ?? MediaType(text, "")
    }
}

/// The media types that apps use most often. Write any other type as a literal: `"application/wasm"`.
extension MediaType {
    /// Any type: `*/*`.
    public static let any = MediaType("*", "*")
    /// `application/json`.
    public static let json = MediaType("application", "json")
    /// `application/xml`.
    public static let xml = MediaType("application", "xml")
    /// `application/octet-stream`.
    public static let octetStream = MediaType("application", "octet-stream")
    /// `application/x-www-form-urlencoded`.
    public static let formURLEncoded = MediaType("application", "x-www-form-urlencoded")
    /// `application/problem+json`.
    public static let problemJSON = MediaType("application", "problem+json")
    /// `application/x-ndjson`.
    public static let ndjson = MediaType("application", "x-ndjson")
    /// `application/pdf`.
    public static let pdf = MediaType("application", "pdf")
    /// `application/zip`.
    public static let zip = MediaType("application", "zip")
    /// `text/plain`.
    public static let plainText = MediaType("text", "plain")
    /// `text/html`.
    public static let html = MediaType("text", "html")
    /// `text/csv`.
    public static let csv = MediaType("text", "csv")
    /// `text/event-stream`.
    public static let eventStream = MediaType("text", "event-stream")
    /// `image/png`.
    public static let png = MediaType("image", "png")
    /// `image/jpeg`.
    public static let jpeg = MediaType("image", "jpeg")
    /// `image/gif`.
    public static let gif = MediaType("image", "gif")
    /// `image/webp`.
    public static let webp = MediaType("image", "webp")
    /// `image/heic`.
    public static let heic = MediaType("image", "heic")
    /// `image/svg+xml`.
    public static let svg = MediaType("image", "svg+xml")
    /// `audio/mpeg`.
    public static let mp3 = MediaType("audio", "mpeg")
    /// `audio/mp4`.
    public static let m4a = MediaType("audio", "mp4")
    /// `video/quicktime`.
    public static let mov = MediaType("video", "quicktime")
    /// `video/mp4`.
    public static let mp4 = MediaType("video", "mp4")
    /// `multipart/form-data`.
    public static let formData = MediaType("multipart", "form-data")
}

extension MediaType {
    /// Returns the usual media type of a file name extension, or nil if the extension is not in the table.
    init?(fileExtension: String) {
        guard let text = MediaType.byExtension[fileExtension.lowercased()] else { return nil }
        self.init(text)
    }

    private static let byExtension = [
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "epub": "application/epub+zip", "usdz": "model/vnd.usdz+zip", "vcf": "text/vcard",
        "aac": "audio/aac", "avif": "image/avif", "bin": "application/octet-stream", "bmp": "image/bmp",
        "css": "text/css", "csv": "text/csv", "gif": "image/gif", "gz": "application/gzip", "heic": "image/heic",
        "heif": "image/heif", "htm": "text/html", "html": "text/html", "ics": "text/calendar", "jpeg": "image/jpeg",
        "jpg": "image/jpeg", "js": "text/javascript", "json": "application/json", "m4a": "audio/mp4",
        "md": "text/markdown", "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4", "oga": "audio/ogg",
        "ogg": "audio/ogg", "pdf": "application/pdf", "png": "image/png", "svg": "image/svg+xml",
        "tar": "application/x-tar", "tif": "image/tiff", "tiff": "image/tiff", "txt": "text/plain",
        "wasm": "application/wasm", "wav": "audio/wav", "webm": "video/webm", "webp": "image/webp",
        "xml": "application/xml", "zip": "application/zip",
    ]
}

/// A charset with its [IANA name](https://www.iana.org/assignments/character-sets) and its Foundation encoding.
struct CharacterSetName {
    let name: String
    let encoding: String.Encoding

    /// Finds the charset with this name, ignoring case. Returns nil if the name is not in the table.
    init?(_ name: String) {
        let lowercased = name.lowercased()
        guard let entry = Self.table.first(where: { $0.names.contains(lowercased) }) else { return nil }
        self.name = entry.names[0]
        self.encoding = entry.encoding
    }

    /// Finds the charset of a Foundation encoding. Returns nil if the encoding is not in the table.
    init?(_ encoding: String.Encoding) {
        guard let entry = Self.table.first(where: { $0.encoding == encoding }) else { return nil }
        self.name = entry.names[0]
        self.encoding = encoding
    }

    private static let table: [(names: [String], encoding: String.Encoding)] = [
        (["utf-8", "utf8"], .utf8), (["us-ascii", "ascii"], .ascii),
        (["iso-8859-1", "latin1", "iso_8859-1"], .isoLatin1), (["iso-8859-2", "latin2", "iso_8859-2"], .isoLatin2),
        (["windows-1252", "cp1252"], .windowsCP1252), (["windows-1251", "cp1251"], .windowsCP1251),
        (["windows-1250", "cp1250"], .windowsCP1250), (["windows-1253", "cp1253"], .windowsCP1253),
        (["windows-1254", "cp1254"], .windowsCP1254), (["macintosh"], .macOSRoman),
        (["utf-16"], .utf16), (["utf-16be"], .utf16BigEndian), (["utf-16le"], .utf16LittleEndian), (["utf-32"], .utf32),
        (["shift_jis", "shift-jis"], .shiftJIS), (["euc-jp"], .japaneseEUC), (["iso-2022-jp"], .iso2022JP),
    ]
}
