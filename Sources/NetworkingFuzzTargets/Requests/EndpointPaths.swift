import Foundation
import Networking

extension FuzzTarget {
    /// The path of an endpoint: two interpolated values, literal text, and the name and value of a query item. Each
    /// value stays within one segment or one part of the query, and the server can decode its original bytes.
    static let endpointPaths = FuzzTarget("endpoint-paths") { input in
        let values = [input.text(0), input.text(1)]
        try requireSegments("users/\(values[0])/files/\(values[1])", ["users", values[0], "files", values[1]], [])
        try requireSegments("v1/a\(values[0])b", ["v1", "a\(values[0])b"], [])
        let item = URLQuery.Item(input.text(3), input.text(4))
        try requireSegments(EndpointPath(segments: values), values, input.parts.count > 3 ? [item] : [])
        try requireLiteral(input.text(2))
    }

    // One service for all inputs, because it keeps no state between them.
    private static let service = FuzzService()

    private static func requireSegments(
        _ path: EndpointPath, _ segments: [String], _ items: [URLQuery.Item]
    ) throws {
        guard let request = try request(path, items) else {
            let isDots = segments.contains { [".", "..", ""].contains($0) }
            let text = segments.joined(separator: "/")
            return try require(isDots || text.hasPrefix("http"), "\(text.debugDescription) is refused")
        }
        let sent = request.url.path(percentEncoded: true).split(separator: "/", omittingEmptySubsequences: false)
        let decoded = sent.dropFirst(2).map { Bytes.decoded($0) ?? [] }
        try require(Array(decoded), equals: segments.map { Array($0.utf8) }, "the segments of \(request.url)")
        let query = request.url.query(percentEncoded: true)
        guard let item = items.first else { return try require(query, equals: nil, "the query of \(request.url)") }
        let parts = (query ?? "").split(separator: "&", omittingEmptySubsequences: false)
            .map { $0.split(separator: "=", omittingEmptySubsequences: false).map { Bytes.decoded($0) ?? [] } }
        try require(parts, equals: [[Array(item.name.utf8), Array((item.value ?? "").utf8)]], "the query")
    }

    private static func requireLiteral(_ text: String) throws {
        guard let request = try request(EndpointPath(verbatim: text), []) else { return }
        let path = request.url.path(percentEncoded: true)
        let isBelow = path == "/a" || path.hasPrefix("/a/")
        try require(isBelow, "\(text.debugDescription) leads to \(path)")
        try require(request.url.query == nil && request.url.fragment == nil, "\(text.debugDescription) adds a query")
        let segments = path.lowercased().split(separator: "/").map { $0.replacing("%2e", with: ".") }
        try require(!segments.contains { $0 == "." || $0 == ".." }, "\(path) has a segment of dots")
    }

    /// Returns the request; nil if it is refused.
    private static func request(_ path: EndpointPath, _ items: [URLQuery.Item]) throws -> HTTPRequest? {
        do {
            let request = try service.request(of: AdHocEndpoint(.get, path).query(URLQuery(items)))
            try request.validate()
            try requireEscaped(request)
            try require(request.url.host, equals: "api.example.com", "the host of \(request.url)")
            return request
        } catch let error as NetworkError {
            try requireReason(error, .invalidRequest)
            return nil
        }
    }
}
