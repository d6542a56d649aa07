import Foundation
import Networking

extension FuzzTarget {
    /// A `Link` field. The links do not change if they are written and read again. The URL of a link can be requested,
    /// or the request is refused with a reason.
    static let links = FuzzTarget("links") { input in
        let headers: HTTPHeaders = ["Link": input.field]
        let links = headers.links
        for link in links { try requireSame([link]) }
        try requireSame(links)
        let request = HTTPRequest(.get, escapedURL)
        let response = HTTPResponse(.ok, headers: headers, to: request)
        for relation in Set(links.flatMap(\.relations)).prefix(4) {
            guard let url = response.link(relation) else { continue }
            let next = HTTPRequest(.get, url)
            do { try next.validate() } catch {
                try requireReason(error, .invalidRequest)
                continue
            }
            try requireEscaped(next)
        }
    }

    private static func requireSame(_ links: [HTTPHeaders.Link]) throws {
        let texts = links.map { link in
            let relations = link.relations.isEmpty ? [] : [("rel", link.relations.joined(separator: " "))]
            let others = link.parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            return "<\(link.target)>" + (relations + others).map { "; \($0.0)=\(quoted($0.1))" }.joined()
        }
        let text = texts.joined(separator: ", ")
        let headers: HTTPHeaders = ["Link": text]
        try require(headers.links, equals: links, "\(text.debugDescription) is read as different links")
    }
}
