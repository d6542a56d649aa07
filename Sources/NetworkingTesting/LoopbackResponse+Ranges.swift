public import Foundation
import Networking

extension LoopbackResponse {
    /// Content that can be had in parts: answers `Range` with the rest of it, `If-Range` as RFC 9110 section 13.1.5
    /// says, and a range beyond its end with 416.
    ///
    /// ```swift
    /// server.route(.get, "/film") { .content(film, tag: "\"v1\"", for: $0) }
    /// ```
    ///
    /// - Parameters:
    ///   - bytes: The whole content.
    ///   - tag: Its entity tag, in quotation marks.
    ///   - request: What is answered. Of the ranges, only one of the form `bytes=100-` is known.
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
