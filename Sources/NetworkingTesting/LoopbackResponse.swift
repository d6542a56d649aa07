public import Foundation
public import Networking

/// What the server answers, and what goes wrong while it does.
///
/// ```swift
/// LoopbackResponse.json(["id": 7])
/// LoopbackResponse(.unauthorized, headers: [.wwwAuthenticate: "Bearer"])
/// LoopbackResponse.text("hello").delayed(by: .milliseconds(50))
/// LoopbackResponse.text("hello").failing(.resetMidBody(after: 2))
/// ```
public struct LoopbackResponse: Sendable {
    /// The body of a response.
    public enum Content: Sendable {
        /// Bytes with a `Content-Length`.
        case fixed(Data)
        /// Chunks in the chunked transfer coding, each flushed by itself.
        case chunked([Data])
        /// Bytes that the closure writes; with a length as they are, without one in the chunked transfer coding. The
        /// closure runs on the connection's own thread and may block: a slow reader makes `write` wait.
        case written(length: Int?, @Sendable (LoopbackWriter) throws -> Void)
        /// These bytes in place of the whole answer, head included; the connection is closed after them.
        case raw(Data)
    }

    /// The status.
    public var status: HTTPStatus
    /// The header fields. `Content-Length` and `Transfer-Encoding` are added from the content.
    public var headers: HTTPHeaders
    /// The body.
    public var content: Content
    /// How long to wait before anything is sent, in real time.
    public var delay: Duration = .zero
    /// What goes wrong.
    public var fault: LoopbackFault?
    /// Whether the connection is closed after the response.
    public var closesConnection = false
    /// Informational responses (1xx) that go before the response.
    public var informational: [HTTPStatus] = []

    /// Makes a response.
    public init(_ status: HTTPStatus = .ok, headers: HTTPHeaders = [], content: Content = .fixed(Data())) {
        self.status = status
        self.headers = headers
        self.content = content
    }

    /// A value as JSON.
    public static func json(
        _ value: some Encodable, status: HTTPStatus = .ok, headers: HTTPHeaders = []
    ) throws -> LoopbackResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return LoopbackResponse(
            status, headers: ([.contentType: "application/json"] as HTTPHeaders).merging(headers),
            content: .fixed(try encoder.encode(value)))
    }

    /// A text in UTF-8.
    public static func text(
        _ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = []
    ) -> LoopbackResponse {
        LoopbackResponse(
            status, headers: ([.contentType: "text/plain; charset=utf-8"] as HTTPHeaders).merging(headers),
            content: .fixed(Data(text.utf8)))
    }

    /// A redirect.
    public static func redirect(to location: String, _ status: HTTPStatus = .found) -> LoopbackResponse {
        LoopbackResponse(status, headers: [.location: location])
    }

    /// The same answer after a wait.
    public func delayed(by delay: Duration) -> LoopbackResponse {
        var answer = self
        answer.delay = delay
        return answer
    }

    /// The same answer with a fault.
    public func failing(_ fault: LoopbackFault) -> LoopbackResponse {
        var answer = self
        answer.fault = fault
        return answer
    }
}

/// What goes wrong while the server answers.
///
/// Those that count bytes are about content that is there as a whole or in chunks; what is written step by step ends
/// itself.
public enum LoopbackFault: Hashable, Sendable {
    /// The connection is closed in place of a response.
    case closeBeforeHead
    /// The connection is reset in place of a response.
    case resetBeforeHead
    /// Nothing is sent, until the client leaves or the server stops.
    case stallBeforeHead
    /// Only the head is sent, until the client leaves or the server stops.
    case stallAfterHead
    /// The connection is reset after so many bytes of the body.
    case resetMidBody(after: Int)
    /// The connection is closed after so many bytes of the body.
    case truncate(after: Int)
    /// The status line is no HTTP.
    case malformedStatusLine
    /// The body comes so many bytes at a time, with a wait between.
    case drip(bytes: Int, every: Duration)
}

/// Writes the body of a response to its connection.
public struct LoopbackWriter: Sendable {
    let send: @Sendable (Data) throws -> Void

    /// Sends bytes; waits while the client takes none, throws once it has left.
    public func write(_ data: Data) throws {
        guard !data.isEmpty else { return }
        try send(data)
    }
}
