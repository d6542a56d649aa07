import Foundation

extension HTTPRequest {
    /// The path and the query of the URL as the request line contains them, percent-encoded: `/search?q=a%2Bb` ([RFC
    /// 9112 section 3.2.1](https://www.rfc-editor.org/rfc/rfc9112#section-3.2.1)). The path of a URL without a path is
    /// `/`. Use the target to sign a request.
    public var target: String {
        let path = url.path(percentEncoded: true)
        let query = url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        return (path.isEmpty ? "/" : path) + query
    }

    /// The items of the URL's query, without percent-encoding. A value that is not valid UTF-8 stays percent-encoded.
    public var query: URLQuery { URLQuery(percentEncoded: url.query(percentEncoded: true) ?? "") }

    /// Appends items to the URL's query. The existing items keep their percent-escapes. (`URL.append(queryItems:)`
    /// changes them: it writes `%2B` as `+`.)
    ///
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest`` if a value cannot be encoded.
    public mutating func append(query: URLQuery) throws {
        if let fault = query.fault { throw NetworkError(.invalidRequest, reason: "query: \(fault)", request: self) }
        guard !query.items.isEmpty else { return }
        let text = url.absoluteString
        let end = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        let separator =
            switch text[..<end].utf8.firstIndex(of: UInt8(ascii: "?")) {
            case nil: "?"
            case let mark?: text.utf8.index(after: mark) == end ? "" : "&"
            }
        guard let whole = URL(reference: text[..<end] + separator + query.percentEncoded + text[end...]) else {
            throw NetworkError(
                .invalidRequest, reason: "query: the URL with the appended items is not valid", request: self)
        }
        url = whole
    }
}
