public import Foundation
public import Networking

/// A response of a ``LoopbackServer``, with an optional failure that the server simulates while it sends the response.
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
        /// Chunks in the chunked transfer coding, each sent in a separate write.
        case chunked([Data])
        /// Bytes that the closure writes. If `length` is not nil, it is the `Content-Length`, and the bytes are sent
        /// unchanged. If `length` is nil, the bytes are sent in the chunked transfer coding. The closure runs on the
        /// thread of the connection and may block: `write` waits while the client reads slowly.
        case written(length: Int?, @Sendable (LoopbackWriter) throws -> Void)
        /// Bytes that replace the whole response, including its head. The server then closes the connection.
        case raw(Data)
        /// The server's side of a WebSocket, to which the connection switches: see
        /// ``LoopbackResponse/webSocket(subprotocol:compressing:_:)``.
        case webSocket(compressing: Bool, @Sendable (LoopbackWebSocket) throws -> Void)
    }

    /// The status code. Default: 200.
    public var status: HTTPStatus
    /// The header fields. The server adds `Content-Length` or `Transfer-Encoding`, which depend on the content.
    public var headers: HTTPHeaders
    /// The content of the body. Default: empty, with a `Content-Length` of 0.
    public var content: Content
    /// The real time that the server waits before it sends the response. Default: zero.
    public var delay: Duration = .zero
    /// The failure that the server simulates while it sends the response. Default: nil.
    public var fault: LoopbackFault?
    /// Whether the server sends `Connection: close` and closes the connection after the response. Default: false.
    public var closesConnection = false
    /// The informational responses (1xx) that are sent before the response. Default: none.
    public var informational: [HTTPStatus] = []

    /// Creates a response with content, by default empty.
    public init(_ status: HTTPStatus = .ok, headers: HTTPHeaders = [], content: Content = .fixed(Data())) {
        self.status = status
        self.headers = headers
        self.content = content
    }

    /// Creates a response with a body in memory.
    public init(_ status: HTTPStatus, headers: HTTPHeaders, body: Data) {
        self.init(status, headers: headers, content: .fixed(body))
    }

    /// Returns a response with status 500 and the description of the error as its text.
    public static func failure(_ error: any Error) -> LoopbackResponse {
        .text("\(error)", status: .internalServerError)
    }

    /// Returns the same response with a failure.
    public func failing(_ fault: LoopbackFault) -> LoopbackResponse {
        var answer = self
        answer.fault = fault
        return answer
    }
}

/// A failure that the server simulates while it sends a response.
///
/// The failures that count bytes apply to `.fixed` and `.chunked` content. They do not apply to `.written` content,
/// because the closure of `.written` decides when to stop.
public enum LoopbackFault: Hashable, Sendable {
    /// The connection is closed without a response.
    case closeBeforeHead
    /// The connection is reset without a response.
    case resetBeforeHead
    /// Nothing is sent until the client closes the connection or the server stops.
    case stallBeforeHead
    /// The head is sent. After that, nothing is sent until the client closes the connection or the server stops.
    case stallAfterHead
    /// The connection is reset after this number of bytes of the body.
    case resetMidBody(after: Int)
    /// The connection is closed after this number of bytes of the body.
    case truncate(after: Int)
    /// The status line is not valid HTTP. The connection is closed after it.
    case malformedStatusLine
    /// The body is sent in pieces of this number of bytes, with a wait after each piece.
    case drip(bytes: Int, every: Duration)
}

/// A writer that sends the body of a response on its connection.
public struct LoopbackWriter: Sendable {
    let send: @Sendable (Data) throws -> Void

    /// Sends bytes. Waits while the client does not read.
    ///
    /// - Throws: The system's error if the client has closed the connection.
    public func write(_ data: Data) throws {
        guard !data.isEmpty else { return }
        try send(data)
    }
}
