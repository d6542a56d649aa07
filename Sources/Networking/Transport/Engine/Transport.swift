/// How a transport returns the body of a response. The value is a hint: a transport may return any
/// ``HTTPResponse/content``, and the caller converts it.
public enum BodyDelivery: Sendable {
    /// The transport returns when the response is complete, with its bytes in memory. A body of more bytes than the
    /// limit is an error of kind ``NetworkError/Kind/responseTooLarge``.
    case buffered(limit: Int)
    /// The transport returns when the head has been received. The body is read from an ``IncomingBody``.
    case streamed
}

/// A type that sends a request and returns the response. It is the only part of a service that performs network I/O.
///
/// ``CurlTransport`` and ``URLSessionTransport`` are transports, and so are the stubs of `NetworkingTesting`. Write a
/// transport to wrap another transport, or to send requests by other means. Set it with
/// ``NetworkConfiguration/transport``.
///
/// ## When it is called
///
/// The pipeline calls `send(_:delivering:)` once for each attempt, after admission and after the adapters. It also
/// calls the method once for each redirect, because the library follows redirects (``RedirectPolicy``). Before it calls
/// the transport, the library adds cookies, checks the cache, and compares the request with the requests in progress.
///
/// The method runs in the task of the call, on any thread. A service sends many requests at the same time, so the
/// method is called concurrently.
///
/// ## What it does
///
/// - Call ``HTTPRequest/validate()`` first, unless the transport passes the request to another transport.
/// - Send the fields of ``HTTPRequest/allHeaders``, and read the body from ``HTTPRequest/openBody()``.
/// - Apply the idle and connect timeouts of ``HTTPRequest/timeouts``. The pipeline applies the total deadline.
/// - Return every response, with any status, and with the request as it was sent.
/// - Return promptly when the task is cancelled. To wait for something of your own, use ``withCallCancellation(_:)``.
///
/// ## Errors
///
/// Throw a ``NetworkError`` if there is no response. Its kind decides whether the request is sent again. If the body
/// fails after the head has arrived, set ``NetworkError/response`` to a response with the head and the bytes of the
/// body that have arrived. If the call rejects the status, the outcome is then the status, not the failure of the body.
/// An error of another type (except `CancellationError` and `URLError`) becomes an error of kind
/// ``NetworkError/Kind/unknown``.
///
/// ## Example
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
