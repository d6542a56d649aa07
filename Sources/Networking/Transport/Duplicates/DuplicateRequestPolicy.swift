/// What becomes of a request that is equal to one that is on its way: of the same method, URL, header fields and
/// body, as adapters made them.
///
/// ```swift
/// let policy = DuplicateRequestPolicy { running, new in
///     new.url.path.hasSuffix("/reload") ? .replace : .join
/// }
/// ```
///
/// For a double tap on something that changes the server, say `.always(.keepFirst, includesUnsafeMethods: true)`. For
/// search as you type, where the requests differ, put them into one group (`RequestSettings.duplicateGroup`) and say
/// ``replace``.
///
/// Files are not shared: of two equal downloads (`as: .file(at:)`), ``keepFirst`` refuses the second one, ``replace``
/// and ``keepLatest`` end the first one before the second one begins, and with the others both are sent. Streams are
/// not compared.
///
/// Compared are requests on their way: not a call that waits for its place in the limit, for a token, or to be sent
/// again. Where a second order must never count, have the server know it by an idempotency key as well: the app's
/// own, `idempotencyKey = .value(draft.id)`.
public struct DuplicateRequestPolicy: Sendable {
    /// What is done about one such pair.
    ///
    /// Two things are decided: which transfer goes on, the one under way or a new one, and who gets its answer.
    /// Whoever does not get it ends with ``NetworkError/Kind/cancelled``, at once and never in silence; no handler
    /// has such a call sent again.
    public struct Decision: Sendable {
        enum Audience: Sendable {
            case everybody
            case earlier
            case latest
            case observer(@Sendable (Result<HTTPResponse, any Error>) -> Void)

            /// Whether the new call gets nothing of the transfer.
            var isEarlier: Bool { if case .earlier = self { true } else { false } }
        }

        enum Action: Sendable {
            /// The new request goes its own way.
            case separate
            /// The transfer under way goes on.
            case share(Audience)
            /// It is cancelled, and a new one begins.
            case restart(Audience)
        }

        let action: Action

        /// Both are sent, as if there were no policy.
        public static let allow = Decision(action: .separate)
        /// One transfer, and everybody gets its answer. Cancelling one call detaches only that one.
        public static let join = Decision(action: .share(.everybody))
        /// The earlier calls end, their transfer is cancelled, a new transfer begins: right for search as
        /// you type, with a group (`RequestSettings.duplicateGroup`).
        public static let replace = Decision(action: .restart(.latest))
        /// The new call ends; the earlier ones go on: right for a double tap.
        public static let keepFirst = Decision(action: .share(.earlier))
        /// The earlier calls end; their transfer goes on for the new one.
        public static let keepLatest = Decision(action: .share(.latest))

        /// The transfer goes on, and its answer goes to a closure: every call ends.
        public static func share(
            answering observer: @escaping @Sendable (Result<HTTPResponse, any Error>) -> Void
        ) -> Decision {
            Decision(action: .share(.observer(observer)))
        }

        /// The transfer is cancelled and a new one begins, whose answer goes to a closure: every call ends.
        public static func replace(
            answering observer: @escaping @Sendable (Result<HTTPResponse, any Error>) -> Void
        ) -> Decision {
            Decision(action: .restart(.observer(observer)))
        }
    }

    private let choose: @Sendable (_ running: HTTPRequest, _ new: HTTPRequest) -> Decision
    /// Whether requests with unsafe methods are compared, too.
    let includesUnsafeMethods: Bool

    /// Makes a policy of a closure.
    ///
    /// - Parameters:
    ///   - includesUnsafeMethods: Whether it is asked about methods that change something, too, such as two equal
    ///     POSTs; not unless said so.
    ///   - decide: Decides about the request under way and the new one, both as adapters made them. It may be asked
    ///     again about the same pair where something has changed meanwhile.
    public init(
        includesUnsafeMethods: Bool = false,
        _ decide: @escaping @Sendable (_ running: HTTPRequest, _ new: HTTPRequest) -> Decision
    ) {
        self.includesUnsafeMethods = includesUnsafeMethods
        self.choose = decide
    }

    /// Makes a policy that always decides the same.
    public static func always(_ decision: Decision, includesUnsafeMethods: Bool = false) -> DuplicateRequestPolicy {
        DuplicateRequestPolicy(includesUnsafeMethods: includesUnsafeMethods) { _, _ in decision }
    }

    /// Each request is sent.
    public static let allow = always(.allow)
    /// Equal requests share one transfer.
    public static let join = always(.join)
    /// A new request takes the place of an equal one.
    public static let replace = always(.replace)
    /// A new request ends while an equal one is on its way.
    public static let keepFirst = always(.keepFirst)
    /// A new request takes over the transfer of an equal one.
    public static let keepLatest = always(.keepLatest)

    func decision(running: HTTPRequest, new: HTTPRequest) -> Decision { choose(running, new) }
}

/// The policy of one request.
enum DuplicatesOption: RequestOption {
    /// The service's.
    static var defaultOption: DuplicateRequestPolicy? { nil }
}

/// The group of one request.
enum DuplicateGroupOption: RequestOption {
    static var defaultOption: String? { nil }
}
