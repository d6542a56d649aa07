/// The error handlers of a service, in order.
///
/// A ``NetworkService`` calls the handlers that were added at run time first, then the handler of its session, then the
/// handlers of the initializer. After these handlers, the service retries the call or maps the error: see
/// ``NetworkConfiguration``. Copies share the handlers that are registered at run time.
public struct ErrorHandlingService: Sendable {
    typealias Mapping = @Sendable (any Error, RequestFailure) -> any Error

    /// The handlers that the service was created with, in order.
    public let handlers: [any ErrorHandler]
    private let recorders: [any ResponseRecorder]
    private let registered: Registrations<any ErrorHandler>
    /// The mapping of the error with which the call ends. It is called last.
    private let mapping: Mapping?

    /// Creates a service with handlers. Default: none.
    public init(_ handlers: [any ErrorHandler] = []) {
        self.init(handlers, Registrations(), mapping: nil)
    }

    private init(_ handlers: [any ErrorHandler], _ registered: Registrations<any ErrorHandler>, mapping: Mapping?) {
        self.handlers = handlers
        self.registered = registered
        self.mapping = mapping
        recorders = handlers.compactMap { $0 as? any ResponseRecorder }
    }

    /// Returns an error handling service with additional handlers before and after the handlers of this one, and with a
    /// mapping that runs last.
    func between(_ first: [any ErrorHandler], and last: [any ErrorHandler], mapping: Mapping?) -> ErrorHandlingService {
        ErrorHandlingService(first + handlers + last, registered, mapping: mapping)
    }

    /// Registers a handler at run time. It is called after the handlers that were registered earlier, and before all
    /// other handlers, including the handler of the session. A failure is handled by the handlers that were registered
    /// when the failure happened.
    ///
    /// - Returns: A token. When the token is cancelled or released, the handler is unregistered.
    public func register(_ handler: some ErrorHandler) -> ObservationToken {
        registered.add(handler)
    }

    /// The current handlers, in the order in which they are called for a failure.
    var current: [any ErrorHandler] { registered.all + handlers }

    /// Returns whether the first current handler that is not an error mapper satisfies a condition. Error mappers
    /// cannot decide about a failure.
    func isFirst(_ isHandler: (any ErrorHandler) -> Bool) -> Bool {
        current.first { !($0 is any ErrorMapper) }.map(isHandler) ?? false
    }

    /// Notifies the handlers that record responses.
    func record(_ response: HTTPResponse, to request: HTTPRequest) {
        for recorder in recorders { recorder.record(response, to: request) }
        for handler in registered.all { (handler as? any ResponseRecorder)?.record(response, to: request) }
    }

    /// Calls the handlers one after another.
    ///
    /// - Parameters:
    ///   - failure: The failure. The handlers update its error, and their decisions are appended to it.
    ///   - isInterrupted: Called after each handler. If the call has ended meanwhile, the remaining handlers are not
    ///     called.
    /// - Returns: A retry that is allowed, or the error with which the call ends. If no handler has decided, this is
    ///   the error that the last handler returned.
    func result(of failure: inout RequestFailure, isInterrupted: () -> Bool) async -> ErrorHandlingResult {
        for handler in current {
            if let mapper = handler as? any ErrorMapper {
                failure.error = mapper.mapped(failure) ?? failure.error
                continue
            }
            let result = await handler.handle(failure)
            if isInterrupted() { break }
            switch result {
            case .next(let error, let reason):
                failure.error = error
                if let reason { failure.decisions.append(.noRetry(because: reason)) }
            case .fail: return result
            case .retry(let delay, let request, let reason):
                if let refusal = failure.refusal(toRetryAfter: delay, with: request) {
                    failure.decisions.append(.noRetry(because: refusal))
                    continue
                }
                failure.decisions.append(.retry(after: delay, because: reason ?? failure.cause))
                return result
            }
        }
        return .next(failure.error)
    }

    /// Returns the mapped error for a body that failed after its call had ended. Only the error mappers are called,
    /// because the request can no longer be repeated.
    func mapped(afterCall failure: RequestFailure) -> any Error {
        var failure = failure
        for case let mapper as any ErrorMapper in current { failure.error = mapper.mapped(failure) ?? failure.error }
        return mapped(failure.error, failure)
    }

    /// Returns the final error of a call, or of a body that fails after the end of its call.
    func mapped(_ error: any Error, _ failure: RequestFailure) -> any Error { mapping?(error, failure) ?? error }
}
