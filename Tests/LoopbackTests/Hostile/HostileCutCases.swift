import Foundation
import Networking

/// Truncated responses. The server closes or resets the connection after each byte of a response.
extension HostileCase {
    static let closedInsideHead = (0..<head.count).map { count in
        cut("head", head, to: count, by: .close, .lostBeforeHead).onFoundation(after: count)
    }

    static let resetInsideHead = (0..<head.count).map { count in
        cut("head", head, to: count, by: .reset, .lostBeforeHead)
    }

    static let closedInsideBody = (0..<5).map { cut("body", body, to: head.count + $0, by: .close, .truncated) }

    static let resetInsideBody = (0..<5).map { cut("body", body, to: head.count + $0, by: .reset, .lostAfterHead) }

    /// The last chunk is `0` and a line end. If the empty line after the last chunk is missing, a client may accept or
    /// reject the body.
    static let closedInsideChunks = (0..<chunks.count).map { count in
        cut(
            "chunks", Data.head(["Transfer-Encoding: chunked"]) + chunks, to: chunkedHead.count + count, by: .close,
            count < chunks.count - 2 ? .truncated : .either(.truncated, .hello))
    }

    static let resetInsideChunks = (0..<chunks.count).map { count in
        cut(
            "chunks", chunkedHead + chunks, to: chunkedHead.count + count, by: .reset,
            count < chunks.count - 2 ? .lostAfterHead : .either(.lostAfterHead, .hello))
    }

    private static let head = Data.head(["Content-Length: 5", "X: a"])
    private static let body = head + Data("hello".utf8)
    private static let chunkedHead = Data.head(["Transfer-Encoding: chunked"])
    private static let chunks = Data("2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n".utf8)

    /// Marks the case as unsafe on Foundation if the close comes between the status line and the end of Content-Length,
    /// because Foundation then crashes the process.
    private func onFoundation(after count: Int) -> HostileCase {
        (17..<36).contains(count) ? on(.urlSessionOnLinux, .endsTheProcess, because: "L44") : self
    }

    private static func cut(
        _ name: String, _ bytes: Data, to count: Int, by end: [HostileStep].End, _ expected: HostileOutcome
    ) -> HostileCase {
        HostileCase("\(name): a \(end) after \(count) bytes", .reply(bytes.prefix(count), then: end), expected)
    }
}
