/// Decides what happens after a failed attempt: another error, the end of the call, or a retry.
///
/// Set handlers with ``NetworkConfiguration/errorHandlingService``. If a handler would only map errors, set
/// ``NetworkConfiguration/errorMapping`` instead: it is called after all handlers, once for each failed call.
///
/// ## When it is called
///
/// After each failed attempt, the pipeline calls the handlers in this order: the handlers that were registered at run
/// time, the handler of the session, the handlers of ``NetworkConfiguration/errorHandlingService``, the retry handler,
/// and ``GeneralErrorHandler``. Each handler gets the error that the previous handler returned. An attempt fails if an
/// adapter, the transport, a validator or the converter throws.
///
/// The method runs in the task of the call, on any thread. Several calls may fail at once, so the method may be called
/// concurrently.
///
/// ## What it may return
///
/// - ``ErrorHandlingResult/next(_:because:)`` passes an error to the next handler.
/// - ``ErrorHandlingResult/fail(_:)`` ends the call with an error. The following handlers are not called.
/// - ``ErrorHandlingResult/retry(after:with:because:)`` sends the request again. In some cases, the pipeline refuses
///   the retry and calls the next handler: the call was cancelled or reset, its deadline passes before the retry, it
///   has used all its attempts, or its body cannot be sent a second time.
///
/// If a handler waits, it must use ``withCallCancellation(_:)``, so that the wait ends when the call ends.
///
/// ## Example
///
/// ```swift
/// struct MaintenanceHandler: ErrorHandler {
///     func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
///         .next(failure.status == .serviceUnavailable ? AppError.maintenance : failure.error)
///     }
/// }
/// ```
public protocol ErrorHandler: ResetParticipant {
    /// Decides about a failure.
    ///
    /// - Parameter failure: The error, with the endpoint, the request, the response, and the earlier attempts.
    /// - Returns: The result.
    func handle(_ failure: RequestFailure) async -> ErrorHandlingResult
}

/// What an error handler does with a failure.
public enum ErrorHandlingResult: Sendable {
    /// The next handler is called with this error; after the last handler, the call ends with it. The reason explains
    /// why this handler does not retry. It is stored in ``RequestFailure/decisions`` and shown in the error's text.
    case next(any Error, because: String? = nil)
    /// The call ends with this error at once. The handlers after this one, such as the retry handler, are not called.
    case fail(any Error)
    /// The request is sent again after a delay. If a request is given, it replaces the original request, and the
    /// adapters process the new request. The library does not check whether repeating is safe: check
    /// ``RequestFailure/isSafeToRepeat``.
    case retry(after: Duration = .zero, with: HTTPRequest? = nil, because: String? = nil)
}

/// An error handler that maps errors, or only looks at them, and decides nothing else.
///
/// A mapper before ``UnauthorizedErrorHandler`` does not delay a refresh, because a mapper can neither end the call nor
/// wait.
///
/// ```swift
/// struct MaintenanceMapper: ErrorMapper {
///     func mapped(_ failure: RequestFailure) -> (any Error)? {
///         failure.status == .serviceUnavailable ? AppError.maintenance : nil
///     }
/// }
/// ```
public protocol ErrorMapper: ErrorHandler {
    /// Returns the mapped error; nil leaves the error as it is. The chain calls this method and never
    /// ``ErrorHandler/handle(_:)``.
    func mapped(_ failure: RequestFailure) -> (any Error)?
}

extension ErrorMapper {
    /// Maps the error of the failure and passes it on.
    public func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        .next(mapped(failure) ?? failure.error)
    }
}

/// A handler that is also notified of responses, such as a handler that limits retries by the number of successes.
protocol ResponseRecorder: ErrorHandler {
    /// Records the response of an attempt before the response is validated.
    ///
    /// - Parameter request: The request of the attempt. After a redirect, `response.request` is a different request.
    func record(_ response: HTTPResponse, to request: HTTPRequest)
}
