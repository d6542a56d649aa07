import Foundation
import Networking

/// A server that follows RFC 9110 section 14: it sends the requested range if `If-Range` is its entity tag.
struct RangeServer: Transport {
    static let tag = "\"v1\""

    let content: [UInt8]
    /// The value that the server sends in `Content-Range` instead of the correct value.
    let wrongRange: String?

    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        try request.validate()
        var headers: HTTPHeaders = [.eTag: Self.tag, "Accept-Ranges": "bytes"]
        guard let start = start(of: request) else {
            headers.contentLength = content.count
            return HTTPResponse(.ok, headers: headers, content: .stream(body(from: 0)), to: request)
        }
        guard start < content.count else {
            headers["Content-Range"] = "bytes */\(content.count)"
            return HTTPResponse(.rangeNotSatisfiable, headers: headers, to: request)
        }
        headers["Content-Range"] = wrongRange ?? "bytes \(start)-\(content.count - 1)/\(content.count)"
        headers.contentLength = content.count - start
        return HTTPResponse(.partialContent, headers: headers, content: .stream(body(from: start)), to: request)
    }

    /// Returns the position of the first requested byte; nil if the server sends the whole content.
    private func start(of request: HTTPRequest) -> Int? {
        guard request.headers[.ifRange] == Self.tag, let range = request.headers[.range], range.hasPrefix("bytes="),
            range.hasSuffix("-")
        else { return nil }
        return Int(range.dropFirst(6).dropLast())
    }

    private func body(from start: Int) -> IncomingBody {
        let chunks = ChunkSource(Array(content[start...]), 16)
        return IncomingBody(pull: { chunks.next() })
    }
}
