import Foundation
import Networking

extension FuzzTarget {
    /// A base URL, a path prefix and a value. Either the request goes to the server of the base URL, with a path that
    /// begins with the base URL's path, or the request is refused.
    static let baseURLs = FuzzTarget("base-urls", count: 500_000) { input in
        guard let base = URL(string: input.text(0)) else { return }
        let (value, prefix) = (input.text(1), input.text(2))
        let environment = NetworkEnvironment(baseURL: base, pathPrefix: EndpointPath(verbatim: prefix))
        let request: HTTPRequest
        do {
            request = try FuzzService(environment).request(of: AdHocEndpoint(.get, "users/\(value)"))
            try request.validate()
        } catch let error as NetworkError {
            return try requireReason(error, .invalidRequest)
        }
        try requireEscaped(request)
        let url = request.url
        try require(HTTPOrigin(url) == HTTPOrigin(base), "the request goes to \(url), not to \(base)")
        try require(url.fragment == nil, "\(url) has a fragment")
        let segments = url.path(percentEncoded: true).split(separator: "/", omittingEmptySubsequences: false)
        try require(Bytes.decoded(segments.last ?? "") ?? [], equals: Array(value.utf8), "the last segment of \(url)")
        try require(segments.dropLast().last == "users", "the path of \(url)")
        let path = base.path(percentEncoded: true).split(separator: "/").joined(separator: "/")
        let sent = segments.filter { !$0.isEmpty }.joined(separator: "/")
        try require(sent.hasPrefix(path), "\(url) is not below \(base)")
        let query = base.query(percentEncoded: true) ?? ""
        try require(url.query(percentEncoded: true) ?? "", equals: query, "the query of \(url)")
    }
}
