/// Decides what happens after a failed attempt: another error, the end of the call, or a retry.
///
/// A service asks its handlers one after another, in the task of the call: the session's handler, then those of
/// ``NetworkConfiguration/errorHandlingService``, then retries, then the general mapping. Each gets the error that
/// the one before has returned. A failure is an error before, during or after sending, such as a status that a
/// validator rejects.
///
/// A retry is not granted if the call was cancelled or reset, if its deadline would pass, if its attempts are used
/// up, or if the body cannot be sent twice; the next handler is asked then. To map errors, prefer
/// ``NetworkConfiguration/errorMapping``, which runs last and once a call. A handler that waits uses
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
    /// - Parameter failure: The error, with the endpoint, the request, the response, and the attempts before.
    /// - Returns: What to do.
    func handle(_ failure: RequestFailure) async -> ErrorHandlingResult
}

/// What an error handler decides.
public enum ErrorHandlingResult: Sendable {
    /// The next handler is asked, with this error; after the last one the call ends with it. The reason says why this
    /// handler does not retry; it is kept in ``RequestFailure/decisions`` and shown in the error's text.
    case next(any Error, because: String? = nil)
    /// The call ends with this error, now. The handlers after this one are not asked, and retries are one of them.
    case fail(any Error)
    /// The request is sent again after a delay. A request that is given replaces the original one; adapters run on it.
    case retry(after: Duration = .zero, with: HTTPRequest? = nil, because: String? = nil)
}

/// A handler that makes another error of a failure's, and does nothing else.
protocol ErrorMapper: ErrorHandler {
    /// The error; nil leaves it as it is.
    func mapped(_ failure: RequestFailure) -> (any Error)?
}

/// A handler that is notified of responses, too, such as one that limits retries by what succeeds.
protocol ResponseRecorder: ErrorHandler {
    /// An attempt has a response, which has not been validated yet.
    ///
    /// - Parameter request: The attempt's request; that of the response may be another one, after a redirect.
    func record(_ response: HTTPResponse, to request: HTTPRequest)
}
