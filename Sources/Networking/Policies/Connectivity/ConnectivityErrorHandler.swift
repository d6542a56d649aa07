/// Has a call that failed for want of a connection wait for one, and then asks for a retry.
///
/// It never stops a first attempt: reachability is a hint. The wait ends with the call's deadline, its cancelling or a
/// reset; put the handler after the token's and before ``RetryErrorHandler``, so that no retry is spent while there is
/// no network.
///
/// ```swift
/// let profiles = ProfileService(environment: environment, authorizedBy: session) {
///     $0.errorHandlingService = ErrorHandlingService([ConnectivityErrorHandler(reachability)])
/// }
/// ```
///
/// It is about ``NetworkError/Kind/notConnected`` and, where the reachability service says that the network cannot be
/// reached, about connections that cannot be made or were lost. What may have reached the server is sent again only
/// where that is safe: see ``RequestFailure/isSafeToRepeat``.
public struct ConnectivityErrorHandler: ErrorHandler {
    private let reachability: ReachabilityService
    private let patience: Duration

    /// Makes a handler.
    ///
    /// - Parameters:
    ///   - reachability: Who knows about the network. It need not be monitoring; where it is, lost connections are
    ///     known to be its fault sooner.
    ///   - patience: How long a call waits at most, where its deadline does not end it before.
    public init(_ reachability: ReachabilityService, waitingAtMost patience: Duration = .seconds(60)) {
        self.reachability = reachability
        self.patience = patience
    }

    /// Waits for the network, and asks for a retry; at once the first time, after a growing pause where it did so
    /// before.
    public func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        guard shouldCancel(failure), !ReachabilityService.isProbing else { return .next(failure.error) }
        let earlier = failure.history.flatMap(\.decisions).map(\.reason)
        // Its patience is for the call, not for each retry that a handler after this one grants.
        guard !earlier.contains(impatience) else { return .next(failure.error) }
        let pause = ConnectivityErrorHandler.pause(after: earlier.filter { $0 == Self.reachable }.count)
        if let refusal = failure.refusal(toRetryAfter: pause, with: nil) {
            return .next(failure.error, because: refusal)
        }
        failure.request?[option: RequestWatch.self]?.tell(.waiting(.connectivity))
        guard let isThere = try? await reachability.waitUntilReachable(atMost: patience) else {
            return .next(failure.error)
        }
        guard isThere else { return .next(failure.error, because: impatience) }
        return .retry(after: pause, because: Self.reachable)
    }

    private static let reachable = "the network can be reached"
    private var impatience: String { "no connection came within \(patience.shortText)" }

    private static let beforeSending: Set<NetworkError.Kind> = [
        .notConnected, .cannotResolveHost, .cannotConnect, .connectTimedOut,
    ]
    private static let afterSending: Set<NetworkError.Kind> = [
        .connectionLostBeforeHead, .connectionLostAfterHead, .truncatedBody, .undecodableContent,
        .idleTimedOut,
    ]

    private func shouldCancel(_ failure: RequestFailure) -> Bool {
        guard let error = failure.networkError else { return false }
        let isUnsent = Self.beforeSending.contains(error.kind) && error.redirects.isEmpty
        guard isUnsent || failure.isSafeToRepeat else { return false }
        if error.kind == .notConnected { return true }
        return (Self.beforeSending.contains(error.kind) || Self.afterSending.contains(error.kind))
            && !reachability.isReachable
    }

    /// None before the first retry; then a second, doubled each time: the system may call a network reachable that is
    /// not.
    private static func pause(after retries: Int) -> Duration {
        retries == 0 ? .zero : .seconds(1 << min(retries - 1, 5))
    }
}
