public import Foundation

extension HTTPHeaders.Link: RedactedReflectable {
    /// The link on one line, as in a `Link` field. `<redacted>` replaces the query, and the user information is omitted.
    /// Control characters and characters that change the text direction are escaped.
    var redactedDescription: String {
        let others = parameters.sorted { $0.key < $1.key }.map { "; \($0.key)=\"\($0.value)\"" }
        let query = target.utf8.contains(UInt8(ascii: "?")) ? "?<redacted>" : ""
        let address = URL.withoutUsers(target) + query
        return "<\(address)>; rel=\"\(relations.joined(separator: " "))\"\(others.joined())".onOneLine
    }
}

extension HTTPHeaders {
    /// A link of a `Link` field, [RFC 8288](https://www.rfc-editor.org/rfc/rfc8288), such as the next page of a list.
    ///
    /// ```swift
    /// let call = AdHocEndpoint.get("issues").authorized()
    /// var page: Response<[Issue]> = try await service.response(call)
    /// while let next = page.http.link("next") {
    ///     page = try await service.response(call.at(next))
    /// }
    /// ```
    ///
    /// ``NetworkRequesting/pages(_:as:with:)`` returns such pages as an asynchronous sequence.
    public struct Link: Hashable, Sendable {
        /// The URI reference between the angle brackets, unchanged. It is often a path. ``HTTPResponse/link(_:)``
        /// resolves it to a URL.
        public let target: String
        /// The relation types of the link, in lower case, such as `next`, `last` or `describedby`.
        public let relations: [String]
        /// The other parameters, such as `title` or `type`, with their names in lower case. If a name occurs twice, the
        /// first value is used.
        public let parameters: [String: String]

        /// Parses the links of a field value. Stops at the first malformed link, and returns the links before it.
        static func parse(_ value: String) -> [HTTPHeaders.Link] { HTTPFieldScanner.elements(of: value, parseOne) }

        private static func parseOne(_ scanner: inout HTTPFieldScanner) -> HTTPHeaders.Link? {
            guard scanner.skip("<") else { return nil }
            let target = scanner.text { $0 != UInt8(ascii: ">") } ?? ""
            guard scanner.skip(">") else { return nil }
            var parameters: [String: String] = [:]
            while true {
                scanner.skipBlanks()
                guard scanner.skip(";") else { break }
                scanner.skipBlanks()
                if let (name, value) = scanner.parameter() {
                    let name = name.lowercased()
                    parameters[name] = parameters[name] ?? value
                } else if let name = scanner.token()?.lowercased() {
                    parameters[name] = parameters[name] ?? ""  // a parameter without a value
                }
                skipRest(&scanner)
            }
            let relations = parameters.removeValue(forKey: "rel") ?? ""
            return HTTPHeaders.Link(
                target: target, relations: relations.lowercased().split { $0 == " " || $0 == "\t" }.map(String.init),
                parameters: parameters)
        }

        /// Skips the rest of a malformed parameter (RFC 8288 appendix B.3). If a quote is not closed, the rest of the
        /// parameter is the rest of the field value.
        private static func skipRest(_ scanner: inout HTTPFieldScanner) {
            while let next = scanner.next, next != UInt8(ascii: ";"), next != UInt8(ascii: ",") {
                guard scanner.quotedString() == nil else { continue }
                scanner.move(to: next == UInt8(ascii: "\"") ? .max : scanner.position + 1)
            }
        }
    }
}

extension HTTPHeaders {
    /// The links of all `Link` fields, in order.
    public var links: [HTTPHeaders.Link] { values(for: "Link").flatMap(HTTPHeaders.Link.parse) }
}

extension HTTPResponse {
    /// Returns the URL of the first link with a relation, such as `next`, resolved against the URL of the request.
    /// Returns nil if there is no such link. A link with an `anchor` parameter is ignored, because it belongs to
    /// another resource.
    ///
    /// The server chooses this URL, so the URL may belong to another server. A request to that URL contains the
    /// session's token and the environment's fields only if they are meant for that server. A user and a password in
    /// the URL are removed, unless the URL of the request has the same server, user and password.
    public func link(_ relation: String) -> URL? {
        let link = headers.links.first {
            $0.relations.contains(relation.lowercased()) && $0.parameters["anchor"] == nil
        }
        guard let target = link?.target else { return nil }
        guard !target.isEmpty else { return request.url }
        return URL(reference: target, relativeTo: request.url).flatMap(request.withoutForeignUser)
    }
}

extension HTTPRequest {
    /// Returns a URL that the server has chosen, without its user and password. A server must not choose the
    /// credentials that the client sends. The user and password are kept if the request's URL has the same origin, user
    /// and password. Returns nil if they cannot be removed.
    func withoutForeignUser(_ target: URL) -> URL? {
        guard target.user != nil || target.password != nil else { return target }
        let isOwn = target.user == url.user && target.password == url.password
        guard !isOwn || HTTPOrigin(target) != origin else { return target }
        var components = URLComponents(url: target, resolvingAgainstBaseURL: true)
        components?.user = nil
        components?.password = nil
        return components?.url
    }
}
