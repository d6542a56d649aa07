/// Has a failed request sent again as a ``RetryPolicy`` says.
///
/// It counts its own retries; those of other handlers, such as a repeat with a new token, do not count.
public struct RetryErrorHandler: ErrorHandler {
    private final class Identity: Sendable {}

    private let policy: RetryPolicy
    private let identity = Identity()

    /// How often each handler has had the call sent again; it travels with the call's original request.
    private enum RetryCounts: RequestOption {
        static let defaultOption: [ObjectIdentifier: Int] = [:]
    }

    /// Makes a handler of a policy.
    public init(_ policy: RetryPolicy) {
        self.policy = policy
    }

    /// Asks for a retry, or passes the failure on.
    public func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        guard var request = failure.originalRequest else { return .next(failure.error) }
        let count = request[option: RetryCounts.self][ObjectIdentifier(identity), default: 0]
        guard let delay = policy.delay(after: failure, earlierRetries: count) else { return .next(failure.error) }
        request[option: RetryCounts.self][ObjectIdentifier(identity)] = count + 1
        return .retry(after: delay, with: request)
    }
}
