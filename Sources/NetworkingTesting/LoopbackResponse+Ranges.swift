public import Foundation
import Networking

extension LoopbackResponse {
    /// Returns a response that supports range requests for its content. For a `Range` of the form `bytes=100-`, the
    /// response is 206 with the rest of the content, or 416 if the range begins after the last byte. `If-Range` is
    /// evaluated according to RFC 9110 section 13.1.5, for entity tags only.
    ///
    /// ```swift
    /// server.route(.get, "/film") { .content(film, tag: "\"v1\"", for: $0) }
    /// ```
    ///
    /// - Parameters:
    ///   - bytes: The whole content.
    ///   - tag: The entity tag of the content, in quotation marks.
    ///   - request: The request to respond to. Only a `Range` of the form above is used. Any other `Range` is ignored.
    public static func content(_ bytes: Data, tag: String, for request: LoopbackRequest) -> LoopbackResponse {
        var answer = LoopbackResponse(
            headers: [.contentType: "application/octet-stream", .acceptRanges: "bytes", .eTag: tag],
            content: .fixed(bytes))
        guard let range = request.headers[.range], range.hasPrefix("bytes="), range.hasSuffix("-"),
            let start = Int(range.dropFirst(6).dropLast()), start >= 0, request.headers[.ifRange] ?? tag == tag
        else { return answer }
        guard start < bytes.count else {
            return LoopbackResponse(
                .rangeNotSatisfiable, headers: [.contentRange: "bytes */\(bytes.count)", .eTag: tag])
        }
        answer.status = .partialContent
        answer.headers[.contentRange] = "bytes \(start)-\(bytes.count - 1)/\(bytes.count)"
        answer.content = .fixed(bytes.dropFirst(start))
        return answer
    }
}
