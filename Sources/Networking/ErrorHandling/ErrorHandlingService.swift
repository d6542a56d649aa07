/// The error handlers of a service, in order.
///
/// `ErrorHandlingService()` alone holds a ``GeneralErrorHandler``; with a list, it holds that list and nothing else. With an empty
/// list every error is thrown as it is.
public struct ErrorHandlingService: Sendable {
    /// The handlers, the first one first.
    public let handlers: [any ErrorHandler]

    /// What becomes of a failure.
    enum Verdict {
        case fail(any Error)
        case retry(after: Duration, with: HTTPRequest?)
    }

    /// Makes a service of handlers.
    public init(_ handlers: [any ErrorHandler] = [GeneralErrorHandler()]) {
        self.handlers = handlers
    }

    /// Asks the handlers one after another.
    ///
    /// - Parameters:
    ///   - failure: What failed.
    ///   - mayRetry: Whether a retry could be granted; otherwise a handler that asks for one is passed over.
    ///   - isInterrupted: Asked after each handler; where the call has ended meanwhile, the rest is not asked.
    func verdict(
        on failure: RequestFailure, mayRetry: (HTTPRequest?) -> Bool, isInterrupted: () -> Bool
    ) async -> Verdict {
        var failure = failure
        for handler in handlers {
            let result = await handler.handle(failure)
            if isInterrupted() { break }
            switch result {
            case .next(let error): failure.error = error
            case .fail(let error): return .fail(error)
            case .retry(let delay, let request):
                if mayRetry(request) { return .retry(after: delay, with: request) }
            }
        }
        return .fail(failure.error)
    }
}
