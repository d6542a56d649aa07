/// How a transport returns the body of a response. The value is a hint: a transport may return any
/// ``HTTPResponse/content``, and the caller converts it.
public enum BodyDelivery: Sendable {
    /// The transport returns when the response is complete, with its bytes in memory. A body of more bytes than the
    /// limit is an error of kind ``NetworkError/Kind/responseTooLarge``.
    case buffered(limit: Int)
    /// The transport returns when the head has been received. The body is read from an ``IncomingBody``.
    case streamed
}

/// A type that sends a request and returns the response.
///
/// A transport is the only part of a service that does I/O. ``CurlTransport`` and ``URLSessionTransport`` are
/// transports, and so are the stubs of `NetworkingTesting`. Write your own transport to wrap another transport, or to
/// send requests by other means. A service calls the transport once for each attempt and once for each redirect,
/// because the service itself follows redirects (``RedirectPolicy``). It sends each request in the task of its call, so
/// that several requests are sent at the same time.
///
/// Return every response, whatever its status is. Throw a ``NetworkError`` if there is no response: the error's kind
/// decides whether the request is sent again. Put the request, as it was sent, into the response. Return promptly when
/// the task is cancelled; use ``withCallCancellation(_:)`` for your own waits. A transport that sends requests itself
/// calls ``HTTPRequest/validate()`` first.
///
/// ```swift
/// struct StopwatchTransport: Transport {
///     let base: any Transport
///
///     func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
///         let start = ContinuousClock.now
///         defer { print(request, ContinuousClock.now - start) }
///         return try await base.send(request, delivering: delivery)
///     }
/// }
/// ```
public protocol Transport: ResetParticipant {
    /// Sends a request and waits for its response.
    ///
    /// - Parameters:
    ///   - request: The request, after adapters and cookies.
    ///   - delivery: How to return the body of the response.
    /// - Throws: ``NetworkError`` if there is no response.
    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse
}
