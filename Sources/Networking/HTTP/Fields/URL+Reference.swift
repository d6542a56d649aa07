package import Foundation

extension URL {
    /// Creates a URL from a text that other code has written: a `Location`, the target of a link, or a text of the app.
    ///
    /// If a component contains a character that a URL may not contain, `URL(string:)` escapes all percent signs of this
    /// component, even those of valid escapes. This initializer keeps every valid escape, and escapes exactly the bytes
    /// that a URL may not contain ([RFC 3986 section 2.4](https://www.rfc-editor.org/rfc/rfc3986#section-2.4)). A
    /// percent sign without two hexadecimal digits is escaped, too, because a `URL` cannot contain it. The segments `.`
    /// and `..` are removed, even from an absolute URL (section 5.2.4). Spaces and tabs at either end are ignored.
    ///
    /// - Parameter base: The URL to which the text is relative. Default: nil; the text must then have a scheme.
    /// - Returns: The absolute URL; nil if the text does not form a URL, for example because the host is not valid.
    package init?(reference text: String, relativeTo base: URL? = nil) {
        guard var reference = URLReference(text) else { return nil }
        if reference.scheme == nil {
            guard let base, let whole = URLReference(base.absoluteString), whole.scheme != nil else { return nil }
            reference.resolve(against: whole)
        }
        guard let text = reference.text else { return nil }
        if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *) {
            self.init(string: text, encodingInvalidCharacters: false)
        } else {
            self.init(string: text)
        }
    }
}

/// The components of a URI reference, [RFC 3986 section 4.1](https://www.rfc-editor.org/rfc/rfc3986#section-4.1), as
/// bytes. Every operation takes time that is proportional to the number of bytes.
private struct URLReference {
    private(set) var scheme: ArraySlice<UInt8>?
    private var authority: ArraySlice<UInt8>?
    private var path: ArraySlice<UInt8>
    private var query: ArraySlice<UInt8>?
    private let fragment: ArraySlice<UInt8>?

    /// Splits a text into its components.
    init?(_ text: String) {
        var rest = Array(Substring(text).trimmingBlanks().utf8)[...]
        fragment = URLReference.cut(&rest, at: UInt8(ascii: "#"))
        query = URLReference.cut(&rest, at: UInt8(ascii: "?"))
        let end = rest.firstIndex { !HTTPGrammar.isAlphanumeric($0) && !"+-.".utf8.contains($0) } ?? rest.endIndex
        if end < rest.endIndex, rest[end] == UInt8(ascii: ":"), let first = rest.first, !HTTPGrammar.isDigit(first),
            HTTPGrammar.isAlphanumeric(first)
        {
            scheme = rest[..<end]
            rest = rest[(end + 1)...]
        }
        if rest.starts(with: "//".utf8) {
            let host = rest.dropFirst(2)
            let end = host.firstIndex(of: UInt8(ascii: "/")) ?? host.endIndex
            authority = host[..<end]
            rest = host[end...]
        }
        path = rest
    }

    /// Removes the first separator and the bytes after it from the text, and returns these bytes; nil if there is no
    /// separator.
    private static func cut(_ text: inout ArraySlice<UInt8>, at separator: UInt8) -> ArraySlice<UInt8>? {
        guard let index = text.firstIndex(of: separator) else { return nil }
        defer { text = text[..<index] }
        return text[(index + 1)...]
    }

    /// Resolves a relative reference (RFC 3986 section 5.2.2).
    mutating func resolve(against base: URLReference) {
        scheme = base.scheme
        guard authority == nil else { return }
        authority = base.authority
        if path.isEmpty {
            path = base.path
            query = query ?? base.query
        } else if path.first != UInt8(ascii: "/") {
            let folder = base.path.lastIndex(of: UInt8(ascii: "/")).map { base.path[...$0] } ?? []
            path = (folder.isEmpty && authority != nil ? [UInt8(ascii: "/")] : folder) + path
        }
    }

    /// The text of the URL; nil if its host cannot be converted to ASCII.
    var text: String? {
        var result = scheme ?? []
        result.append(UInt8(ascii: ":"))
        if let authority {
            guard let authority = URLReference.ascii(authority) else { return nil }
            result += Array("//".utf8) + authority
        }
        let isHierarchical = authority != nil || path.first == UInt8(ascii: "/")
        URLReference.append(isHierarchical ? URLReference.withoutDots(path) : path, to: &result, allowing: "/")
        if let query {
            result.append(UInt8(ascii: "?"))
            URLReference.append(query, to: &result, allowing: "/?")
        }
        if let fragment {
            result.append(UInt8(ascii: "#"))
            URLReference.append(fragment, to: &result, allowing: "/?")
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns an authority with its host in ASCII.
    private static func ascii(_ authority: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard !authority.allSatisfy({ $0 < 0x80 }) else { return authority }
        let start = authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? authority.startIndex
        let end = authority[start...].lastIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        guard end - start <= 1_024,
            let host = HostName.canonical(String(decoding: authority[start..<end], as: UTF8.self))
        else { return nil }
        return authority[..<start] + Array(host.utf8) + authority[end...]
    }

    /// Removes the segments `.` and `..` (RFC 3986 section 5.2.4).
    private static func withoutDots(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard path.contains(UInt8(ascii: ".")) else { return path }
        let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
        var kept: [ArraySlice<UInt8>] = []
        for segment in segments {
            if segment.elementsEqual("..".utf8) {
                _ = kept.popLast()
            } else if !segment.elementsEqual(".".utf8) {
                kept.append(segment)
            }
        }
        if let last = segments.last, last.elementsEqual(".".utf8) || last.elementsEqual("..".utf8) { kept.append([]) }
        return kept.isEmpty ? [UInt8(ascii: "/")] : kept.reduce(into: []) { $0 += [UInt8(ascii: "/")] + $1 }
    }

    /// Appends a component, and escapes all bytes that the component may not contain.
    private static func append(
        _ part: ArraySlice<UInt8>, to result: inout ArraySlice<UInt8>, allowing more: StaticString
    ) {
        for index in part.indices {
            let byte = part[index]
            let isEscape =
                byte == UInt8(ascii: "%") && part.count >= 3 && index + 2 < part.endIndex
                && part[(index + 1)...(index + 2)].allSatisfy(isHexadecimal)
            if isEscape || HTTPGrammar.isAlphanumeric(byte) || "-._~!$&'()*+,;=:@".utf8.contains(byte)
                || more.withUTF8Buffer({ $0.contains(byte) })
            {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 0x0F)]
            }
        }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        HTTPGrammar.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value + (value < 10 ? 0x30 : 0x37) }
}
