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
public struct LoopbackResponse: PreparedResponse {
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

    /// Creates a response with a body in memory.
    public init(_ status: HTTPStatus, headers: HTTPHeaders, body: Data) {
        self.init(status, headers: headers, content: .fixed(body))
    }

    /// A response of status 500 with the error as its text.
    public static func failure(_ error: any Error) -> LoopbackResponse {
        .text("\(error)", status: .internalServerError)
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
