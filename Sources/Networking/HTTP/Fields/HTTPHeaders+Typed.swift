package import Foundation

/// Typed views of common fields.
extension HTTPHeaders {
    /// The credentials of `Authorization`; nil if the field is missing or malformed.
    public var authorization: HTTPAuthorization? {
        get { self[.authorization].flatMap { HTTPAuthorization($0) } }
        set { self[.authorization] = newValue?.fieldValue }
    }

    /// The media type of `Content-Type`; nil if the field is missing or malformed.
    public var contentType: MediaType? {
        get { self[.contentType].flatMap { MediaType($0) } }
        set { self[.contentType] = newValue?.description }
    }

    /// The media types of `Accept`, without the types that `q=0` excludes. Empty if the field is missing or contains no
    /// valid media type.
    public var accept: [MediaType] {
        get { HTTPHeaders.elements(of: self[.accept] ?? "").compactMap { MediaType($0) }.filter { !$0.isRefused } }
        set { self[.accept] = newValue.isEmpty ? nil : newValue.map(\.description).joined(separator: ", ") }
    }

    /// Returns the elements of a list, [RFC 9110 section
    /// 5.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.1). A comma in a quoted-string does not separate
    /// elements.
    private static func elements(of list: String) -> [String] {
        var elements: [[UInt8]] = [[]]
        var (isQuoted, isEscaped) = (false, false)
        // Iterates over bytes, because a comma or quote with a combining mark is not equal to the `Character` `,` or
        // `"`.
        for byte in list.utf8 {
            if byte == UInt8(ascii: ","), !isQuoted {
                elements.append([])
                continue
            }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && byte == UInt8(ascii: "\\") && !isEscaped
            elements[elements.count - 1].append(byte)
        }
        return elements.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The number of bytes of `Content-Length`; nil if the field is missing or not a number.
    public var contentLength: Int? {
        get { self[.contentLength].flatMap { HTTPGrammar.number($0) } }
        set { self[.contentLength] = newValue.map(String.init) }
    }

    /// The challenges of all `WWW-Authenticate` fields.
    package var challenges: [HTTPHeaders.Challenge] {
        values(for: .wwwAuthenticate).flatMap { HTTPHeaders.Challenge.parse($0) }
    }

    /// The time of `Date` (RFC 9110 section 6.6.1), in whole seconds; nil if the field is missing or malformed.
    package var date: Date? {
        self[.date].flatMap { $0.utf8.count <= HTTPDate.longest ? HTTPDate($0)?.date : nil }
    }
}

extension MediaType {
    /// Whether a media range of `Accept` has the weight `q=0`, which means "not acceptable" (RFC 9110 section 12.4.2).
    fileprivate var isRefused: Bool { parameters.contains { $0.name.lowercased() == "q" && Double($0.value) == 0 } }
}
