/// Decides what happens after a failed attempt: another error, the end of the call, or a retry.
///
/// A service calls its handlers one after another, in the task of the call: the session's handler, then those of
/// ``NetworkConfiguration/errorHandlingService``, then retries, then the general mapping. Each handler gets the error
/// that the previous one has returned. A failure is an error before, during or after sending, such as a status that a
/// validator rejects.
///
/// A retry is not granted if the call was cancelled or reset, if its deadline would pass, if its attempts are used up,
/// or if the body cannot be sent twice; the next handler is called then. To map errors, prefer
/// ``NetworkConfiguration/errorMapping``, which runs last and once per call. A handler that waits must use
/// ``withCallCancellation(_:)``.
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
    /// - Returns: The decision.
    func handle(_ failure: RequestFailure) async -> ErrorHandlingResult
}

/// The decision of an error handler.
public enum ErrorHandlingResult: Sendable {
    /// The next handler is called with this error; after the last handler, the call ends with it. The reason explains
    /// why this handler does not retry. It is stored in ``RequestFailure/decisions`` and shown in the error's text.
    case next(any Error, because: String? = nil)
    /// The call ends with this error at once. The handlers after this one are not called, and retries are one of them.
    case fail(any Error)
    /// The request is sent again after a delay. If a request is given, it replaces the original one, and adapters run
    /// on it.
    case retry(after: Duration = .zero, with: HTTPRequest? = nil, because: String? = nil)
}

/// A handler that maps the error of a failure to another error, and does nothing else.
protocol ErrorMapper: ErrorHandler {
    /// Returns the mapped error; nil leaves the error as it is.
    func mapped(_ failure: RequestFailure) -> (any Error)?
}

/// A handler that is also notified of responses, such as one that limits retries by the number of successes.
protocol ResponseRecorder: ErrorHandler {
    /// Records the response of an attempt, which has not been validated yet.
    ///
    /// - Parameter request: The attempt's request. After a redirect, the request of the response is another one.
    func record(_ response: HTTPResponse, to request: HTTPRequest)
}
