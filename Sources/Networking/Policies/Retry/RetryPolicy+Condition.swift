extension RetryPolicy {
    /// The condition under which a ``RetryPolicy`` retries a failure.
    ///
    /// ```swift
    /// let policy = RetryPolicy(retries: 2, on: .statuses(.conflict, .serviceUnavailable))
    /// let login = RetryPolicy(retries: 1, on: .endpoint(LogIn.self))
    /// let other = RetryPolicy(retries: 1, on: RetryPolicy.Condition { failure in
    ///     await mirrors.isAvailable ? .retry(after: .zero, with: mirrored(failure.originalRequest)) : .no
    /// })
    /// ```
    public struct Condition: Sendable {
        /// Whether a failed attempt is repeated.
        public enum Answer: Sendable {
            /// The request is not sent again.
            case no
            /// The request is sent again after a delay. The default delay is the longer of the policy's backoff and the
            /// server's `Retry-After`. If a request is given, it replaces the original request, and the adapters run on
            /// it.
            case retry(after: Duration? = nil, with: HTTPRequest? = nil)
        }

        /// Returns the answer about a failed attempt.
        let judge: @Sendable (RequestFailure) async -> Answer

        /// Creates a condition from a closure.
        public init(_ judge: @escaping @Sendable (RequestFailure) async -> Answer) {
            self.judge = judge
        }

        private static func when(_ isRetried: @escaping @Sendable (RequestFailure) -> Bool) -> RetryPolicy.Condition {
            RetryPolicy.Condition { isRetried($0) ? .retry() : .no }
        }
    }
}

extension RetryPolicy.Condition {
    /// Failures that may be temporary: the connection failed, the body is damaged, the attempt timed out, or the
    /// status is 408, 421, 425, 429, 500, 502, 503, 504, 520 to 525, 527, 529, 530, 598 or 599.
    public static let transient = when { failure in
        guard let kind = failure.networkError?.kind else { return false }
        guard kind == .unacceptableStatus, let status = failure.status else {
            return NetworkError.Kind.transientKinds.contains(kind)
        }
        return status.meansNotNow || status.isOfGateway || status == .internalServerError
    }

    /// All failures.
    public static let any = when { _ in true }

    /// Responses with one of these statuses.
    public static func statuses(_ statuses: HTTPStatus...) -> RetryPolicy.Condition {
        let statuses = Set(statuses)
        return when { $0.status.map(statuses.contains) ?? false }
    }

    /// Failures of one of these kinds.
    public static func kinds(_ kinds: NetworkError.Kind...) -> RetryPolicy.Condition {
        when { $0.networkError.map { kinds.contains($0.kind) } ?? false }
    }

    /// Errors of a type, for example a server error to which an endpoint or an earlier handler mapped the response. An
    /// error also matches if its underlying error has the type.
    public static func error<Failure: Error>(_ type: Failure.Type) -> RetryPolicy.Condition {
        when { $0.error is Failure || $0.networkError?.underlying is Failure }
    }

    /// Error responses whose body the endpoint decodes as the given type.
    public static func serverError<ServerError: Sendable>(_ type: ServerError.Type) -> RetryPolicy.Condition {
        when { $0.serverError is ServerError }
    }

    /// Failures of calls of an endpoint type.
    public static func endpoint<Call: Endpoint>(_ type: Call.Type) -> RetryPolicy.Condition {
        when { $0.endpoint is Call }
    }

    /// The answer of the first condition that decides to retry the request. If no condition requests a retry, there is
    /// no retry.
    public static func first(of conditions: RetryPolicy.Condition...) -> RetryPolicy.Condition {
        RetryPolicy.Condition { failure in
            for condition in conditions {
                let answer = await condition.judge(failure)
                if case .no = answer { continue }
                return answer
            }
            return .no
        }
    }
}
