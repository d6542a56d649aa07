/// Deals with a failed attempt: explains it, has it repeated, or passes it on.
///
/// The handlers of a service are asked in order. Each one's answer counts once. A call that was cancelled, reset or overtaken by
/// its deadline is passed through the chain too, so that its error is mapped; a retry asked for then is not granted. A handler that waits for
/// something of its own does so by ``untilCallEnds(_:)``.
///
/// ```swift
/// struct MaintenanceHandler: ErrorHandler {
///     func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
///         .next(failure.status == .serviceUnavailable ? AppError.maintenance : failure.error)
///     }
/// }
/// ```
public protocol ErrorHandler: ResetParticipant {
    /// Looks at a failure.
    ///
    /// - Returns: What to do. Where a retry cannot be granted, the failure goes on to the next handler with its error unchanged.
    func handle(_ failure: RequestFailure) async -> ErrorHandlingResult
}

/// What an error handler wants to be done.
public enum ErrorHandlingResult: Sendable {
    /// The next handler is to look, with this error; after the last one the call ends with it. A handler that thought about a retry says
    /// why it wants none; the reason is kept in ``RequestFailure/decisions`` and shown in the error's text.
    case next(any Error, because: String? = nil)
    /// The call is to end with this error, now. The handlers after this one are not asked, and retries are one of them.
    case fail(any Error)
    /// The request is to be sent again, after a while and with another original request where one is given. Adapters run again.
    case retry(after: Duration = .zero, with: HTTPRequest? = nil, because: String? = nil)
}

/// An error handler made of a closure.
public struct ClosureErrorHandler: ErrorHandler {
    private let answer: @Sendable (RequestFailure) async -> ErrorHandlingResult

    /// Makes a handler of a closure.
    public init(_ answer: @escaping @Sendable (RequestFailure) async -> ErrorHandlingResult) {
        self.answer = answer
    }

    /// Calls the closure.
    public func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        await answer(failure)
    }
}

/// A handler that makes another error of a failure's, and does nothing else.
protocol ErrorMapper: ErrorHandler {
    /// The error; nil leaves it as it is.
    func mapped(_ failure: RequestFailure) -> (any Error)?
}

/// A handler that is notified of responses, too: one whose retries are paid for by what succeeds.
protocol ResponseRecorder: ErrorHandler {
    /// An attempt has a response, which has not been validated yet.
    ///
    /// - Parameter request: The attempt's request; that of the response may be another one, after a redirect.
    func record(_ response: HTTPResponse, to request: HTTPRequest)
}
