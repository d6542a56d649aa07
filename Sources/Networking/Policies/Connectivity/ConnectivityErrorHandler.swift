/// An error handler for calls that failed because there was no connection. It waits until the network is reachable,
/// and then requests a retry.
///
/// The handler never delays a first attempt, because reachability is only a hint. The wait ends if the deadline of the
/// call passes, if the call is cancelled, or if the service is reset. Put the handler after
/// ``UnauthorizedErrorHandler`` and before ``RetryErrorHandler``, so that ``RetryErrorHandler`` uses no retries while
/// there is no network.
///
/// ```swift
/// let profiles = ProfileService(environment: environment, authorizedBy: session) {
///     $0.errorHandlingService = ErrorHandlingService([ConnectivityErrorHandler(reachability)])
/// }
/// ```
///
/// The handler handles ``NetworkError/Kind/notConnected``. If the reachability service reports that the network is not
/// reachable, the handler also handles connections that cannot be opened or were lost. A request that may have reached
/// the server is sent again only if that is safe: see ``RequestFailure/isSafeToRepeat``.
public struct ConnectivityErrorHandler: ErrorHandler {
    private let reachability: ReachabilityService
    private let waitLimit: Duration

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - reachability: The service that knows the state of the network. It need not be monitoring. If it is
    ///     monitoring, the handler detects earlier that the network caused a lost connection.
    ///   - waitLimit: The maximum time for which a call waits. The deadline of the call can end the wait earlier.
    ///     Default: 60 seconds.
    public init(_ reachability: ReachabilityService, waitingAtMost waitLimit: Duration = .seconds(60)) {
        self.reachability = reachability
        self.waitLimit = waitLimit
    }

    /// Waits for the network and requests a retry. The first retry starts at once; later retries of the same call start
    /// after a pause that grows.
    public func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        guard shouldWait(failure), !ReachabilityService.isProbing else { return .next(failure.error) }
        let earlier = failure.history.flatMap(\.decisions).map(\.reason)
        // After the limit has passed once, the call does not wait again, even if a later handler grants a retry.
        guard !earlier.contains(timeoutReason) else { return .next(failure.error) }
        let pause = ConnectivityErrorHandler.pause(after: earlier.filter { $0 == Self.reachable }.count)
        if let refusal = failure.refusal(toRetryAfter: pause, with: nil) {
            return .next(failure.error, because: refusal)
        }
        failure.request?.parts.transfer?.report(.waiting(.connectivity))
        do {
            let status = try await reachability.statusUnlessUnreachable(within: waitLimit)
            guard let status else { return .next(failure.error, because: timeoutReason) }
            guard status.isReachable else {
                return .next(failure.error, because: "it is not known whether the network can be reached")
            }
        } catch { return .next(failure.error) }
        return .retry(after: pause, because: Self.reachable)
    }

    private static let reachable = "the network can be reached"
    private var timeoutReason: String { "the network was not reachable within \(waitLimit.shortText)" }

    private func shouldWait(_ failure: RequestFailure) -> Bool {
        guard let error = failure.networkError, failure.isSafeToRepeat else { return false }
        return error.kind == .notConnected
            || NetworkError.Kind.transientKinds.contains(error.kind) && reachability.currentStatus.isUnreachable
    }

    /// Returns the pause before a retry: zero before the first retry, one second before the second retry, and then
    /// twice the previous pause, up to 32 seconds. The pause is necessary because the system may report that a network
    /// is reachable although it is not.
    private static func pause(after retries: Int) -> Duration {
        retries == 0 ? .zero : .seconds(1 << min(retries - 1, 5))
    }
}
