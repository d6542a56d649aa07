/// An error handler that consists of a closure.
///
/// ```swift
/// $0.errorHandlingService = ErrorHandlingService([
///     AdHocErrorHandler { failure in
///         failure.status == .upgradeRequired ? .fail(AppError.updateNeeded) : .next(failure.error)
///     }
/// ])
/// ```
public struct AdHocErrorHandler: ErrorHandler {
    private let decide: @Sendable (RequestFailure) async -> ErrorHandlingResult

    /// Creates a handler from a closure. See ``ErrorHandler`` for when it is called and what it may return.
    public init(_ decide: @escaping @Sendable (RequestFailure) async -> ErrorHandlingResult) {
        self.decide = decide
    }

    /// Calls the closure with the failure.
    public func handle(_ failure: RequestFailure) async -> ErrorHandlingResult { await decide(failure) }
}
