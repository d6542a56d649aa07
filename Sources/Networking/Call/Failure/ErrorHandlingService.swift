/// The error handlers of a service, in order.
///
/// A service asks them after its session's handler, and before it retries and maps: see ``NetworkConfiguration``.
/// Copies share the handlers that are registered at run time.
public struct ErrorHandlingService: Sendable {
    /// The handlers that it was made with, the first one first.
    public let handlers: [any ErrorHandler]
    private let recorders: [any ResponseRecorder]
    private let registered: Registrations<any ErrorHandler>
    /// Asked at last for the error that the call ends with.
    private let mapping: (@Sendable (any Error, RequestFailure) -> any Error)?

    /// What becomes of a failure.
    enum Verdict {
        case fail(any Error)
        case retry(after: Duration, with: HTTPRequest?)
    }

    /// Makes a service of handlers. Default: none.
    public init(_ handlers: [any ErrorHandler] = []) {
        self.init(handlers, Registrations(), mapping: nil)
    }

    private init(
        _ handlers: [any ErrorHandler], _ registered: Registrations<any ErrorHandler>,
        mapping: (@Sendable (any Error, RequestFailure) -> any Error)?
    ) {
        self.handlers = handlers
        self.registered = registered
        self.mapping = mapping
        recorders = handlers.compactMap { $0 as? any ResponseRecorder }
    }

    /// These handlers with others before and after them, and a mapping at last.
    func between(
        _ first: [any ErrorHandler], and last: [any ErrorHandler],
        mapping: (@Sendable (any Error, RequestFailure) -> any Error)?
    ) -> ErrorHandlingService {
        ErrorHandlingService(first + handlers + last, registered, mapping: mapping)
    }

    /// Adds a handler while the app runs. It is asked before those that the service was made with, the session's
    /// handler among them, and after those registered earlier; a failure is handled by those that were there when it
    /// happened.
    ///
    /// - Returns: The token that takes the handler out again, when it is cancelled or released.
    public func register(_ handler: some ErrorHandler) -> ObservationToken {
        registered.add(handler)
    }

    /// Those who are asked about a failure that happens now, in order.
    var current: [any ErrorHandler] { registered.all + handlers }

    /// Notifies the handlers that record responses.
    func record(_ response: HTTPResponse, to request: HTTPRequest) {
        for recorder in recorders { recorder.record(response, to: request) }
        for handler in registered.all { (handler as? any ResponseRecorder)?.record(response, to: request) }
    }

    /// Asks the handlers one after another.
    ///
    /// - Parameters:
    ///   - failure: What failed; it keeps what was decided about it, and the error as the handlers left it.
    ///   - isInterrupted: Asked after each handler; where the call has ended meanwhile, the rest is not asked.
    func verdict(
        on failure: inout RequestFailure, isInterrupted: () -> Bool
    ) async -> Verdict {
        for handler in current {
            let result = await handler.handle(failure)
            if isInterrupted() { break }
            switch result {
            case .next(let error, let reason):
                failure.error = error
                if let reason { failure.decisions.append(.noRetry(because: reason)) }
            case .fail(let error):
                return .fail(error)
            case .retry(let delay, let request, let reason):
                if let refusal = failure.refusal(toRetryAfter: delay, with: request) {
                    failure.decisions.append(.noRetry(because: refusal))
                    continue
                }
                failure.decisions.append(.retry(after: delay, because: reason ?? failure.cause))
                return .retry(after: delay, with: request)
            }
        }
        return .fail(failure.error)
    }

    /// The error of a body that has failed after its call: mapped as the call's would be. No other handler is asked,
    /// since nothing can be sent again.
    func mapped(afterCall failure: RequestFailure) -> any Error {
        var failure = failure
        for case let mapper as any ErrorMapper in current { failure.error = mapper.mapped(failure) ?? failure.error }
        return mapped(failure.error, failure)
    }

    /// The error that a call ends with: asked once, when it has ended.
    func mapped(_ error: any Error, _ failure: RequestFailure) -> any Error { mapping?(error, failure) ?? error }
}
