/// What happens to a request if an equal request is in progress. Equal requests have the same method, URL, header
/// fields and body after the adapters have run, and the same settings `caching` and `networkAccess`.
///
/// ```swift
/// let policy = DuplicateRequestPolicy { running, new in
///     new.url.path.hasSuffix("/reload") ? .replace : .join
/// }
/// ```
///
/// For a double tap on a button that changes something on the server, use
/// `.always(.keepFirst, includesUnsafeMethods: true)`. For search as you type, in which the requests differ, put the
/// requests into one group (`RequestSettings.duplicateGroup`) and use `.always(.replace)`.
///
/// Two equal downloads (`as: .file(at:)`) never share a transfer. `keepFirst` rejects the second download. `replace`
/// and `keepLatest` end the first download before the second download begins. With the other choices, both downloads
/// are sent. Streams are not compared.
///
/// Only requests in progress are compared, not calls that wait for a permit, for a token, or for a retry. Some requests
/// must never be executed twice, for example the order of a customer. For such a request, also set an idempotency key
/// that the app chooses: `idempotencyKey = .value(draft.id)`.
public struct DuplicateRequestPolicy: Sendable {
    /// What happens to two equal requests.
    ///
    /// A choice selects the transfer that continues: the transfer in progress or a new one. It also selects the calls
    /// that get the response of this transfer. The other calls end with ``NetworkError/Kind/cancelled`` at once; no
    /// handler sends their requests again.
    public struct Choice: Sendable {
        enum Audience: Sendable {
            case all
            case earlier
            case latest
            case observer(@Sendable (Result<HTTPResponse, any Error>) -> Void)

            /// Whether only the earlier calls get the response.
            var isEarlier: Bool { if case .earlier = self { true } else { false } }
        }

        enum Action: Sendable {
            /// The new request is sent separately.
            case separate
            /// The transfer in progress continues.
            case share(Audience)
            /// The transfer in progress is cancelled, and a new transfer begins.
            case restart(Audience)
        }

        let action: Action

        /// Both requests are sent, as if there were no policy.
        public static let allow = Choice(action: .separate)
        /// All calls get the response of one transfer. Cancelling one call does not cancel the other calls.
        public static let join = Choice(action: .share(.all))
        /// The earlier calls and their transfer end, and a new transfer begins. Use this choice for search as you
        /// type, with a group (`RequestSettings.duplicateGroup`).
        public static let replace = Choice(action: .restart(.latest))
        /// The new call ends, and the earlier calls continue. Use this choice for a double tap.
        public static let keepFirst = Choice(action: .share(.earlier))
        /// The earlier calls end, and their transfer continues for the new call.
        public static let keepLatest = Choice(action: .share(.latest))

        /// The transfer in progress continues, and `observer` is called with the result of this transfer. All calls
        /// end. The transfer must end within the total time-out of its request (`timeouts.total`), counted from the
        /// moment of the choice. If the request has no total time-out, the transfer has no deadline.
        public static func share(
            notifying observer: @escaping @Sendable (Result<HTTPResponse, any Error>) -> Void
        ) -> Choice {
            Choice(action: .share(.observer(observer)))
        }

        /// The transfer in progress is cancelled, and a new transfer begins. `observer` is called with the result of
        /// the new transfer. All calls end. The time of the new transfer is limited as with ``share(notifying:)``.
        public static func replace(
            notifying observer: @escaping @Sendable (Result<HTTPResponse, any Error>) -> Void
        ) -> Choice {
            Choice(action: .restart(.observer(observer)))
        }
    }

    private let choose: @Sendable (_ running: HTTPRequest, _ new: HTTPRequest) -> Choice
    /// Whether requests with unsafe methods are compared, too.
    let includesUnsafeMethods: Bool

    /// Creates a policy from a closure.
    ///
    /// - Parameters:
    ///   - includesUnsafeMethods: Whether requests with unsafe methods, such as POST, are compared, too. Default:
    ///     false.
    ///   - decide: A closure that gets the request in progress and the new request, both after the adapters have run,
    ///     and returns the choice. It may be called again for the same pair if the transfer in progress has changed
    ///     meanwhile.
    public init(
        includesUnsafeMethods: Bool = false,
        _ decide: @escaping @Sendable (_ running: HTTPRequest, _ new: HTTPRequest) -> Choice
    ) {
        self.includesUnsafeMethods = includesUnsafeMethods
        self.choose = decide
    }

    /// Returns a policy that always makes the same choice.
    public static func always(_ choice: Choice, includesUnsafeMethods: Bool = false) -> DuplicateRequestPolicy {
        DuplicateRequestPolicy(includesUnsafeMethods: includesUnsafeMethods) { _, _ in choice }
    }

    func choice(running: HTTPRequest, new: HTTPRequest) -> Choice { choose(running, new) }
}
