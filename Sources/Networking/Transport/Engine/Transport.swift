/// When a transport answers. It is advice: any answer is right, and whoever asked brings it into the form it wants.
public enum AnswerTiming: Sendable {
    /// Once, with the bytes in memory; past the limit with ``NetworkError/Kind/responseTooLarge``.
    case whenComplete(limit: Int)
    /// At the head, with a body that is pulled.
    case atHead
}

/// Carries one request to a server and brings the answer back: the one seam between policy and I/O.
///
/// Engines do it (``URLSessionTransport``), decorators wrap another transport, test doubles answer by themselves. One `send` is
/// one hop: the service follows redirects (``RedirectPolicy``). An engine calls ``HTTPRequest/validate()`` first.
///
/// Whatever status comes back is an answer; throw only where none came. Throw ``NetworkError`` to say what kind of failure it was.
/// Cancelling the task must end `send` promptly. Bring the request back in the response as it was sent.
///
/// ```swift
/// struct StopwatchTransport: Transport {
///     let base: any Transport
///
///     func send(_ request: HTTPRequest, answering timing: AnswerTiming) async throws -> HTTPResponse {
///         let start = ContinuousClock.now
///         defer { print(request, ContinuousClock.now - start) }
///         return try await base.send(request, answering: timing)
///     }
/// }
/// ```
public protocol Transport: ResetParticipant {
    /// Sends a request and waits for its answer. Where that is a wait of its own, and not of the transport below, it uses ``untilCallEnds(_:)``.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - timing: When the answer is wanted.
    /// - Throws: ``NetworkError`` where no answer came.
    func send(_ request: HTTPRequest, answering timing: AnswerTiming) async throws -> HTTPResponse
}
