/// The redirects that are followed ([RFC 9110 section 15.4](https://www.rfc-editor.org/rfc/rfc9110#section-15.4)).
///
/// ```swift
/// let policy = RedirectPolicy.deciding { next, response in
///     next.url.host == "login.example.com" ? nil : next      // the redirect to the log-in page is the response
/// }
/// ```
public struct RedirectPolicy: Sendable {
    /// The largest number of redirects in a row.
    let limit: Int
    /// Whether a redirect can be followed.
    let follows: Bool
    private let decision: Decision?

    /// What the app decides about each redirect.
    private final class Decision: Sendable {
        let decide: @Sendable (HTTPRequest, HTTPResponse) -> HTTPRequest?

        init(_ decide: @escaping @Sendable (HTTPRequest, HTTPResponse) -> HTTPRequest?) { self.decide = decide }
    }

    /// Whether every redirect is followed. If true, the bodies of redirects are not needed.
    var alwaysFollows: Bool { follows && decision == nil }

    /// Whether two policies follow the same redirects.
    func isSame(as other: RedirectPolicy) -> Bool {
        limit == other.limit && follows == other.follows && decision === other.decision
    }

    /// Follows no redirects: the 3xx response is the response of the call.
    public static let ignore = RedirectPolicy(limit: 0, follows: false, decision: nil)

    /// Follows at most 20 redirects in a row.
    public static let standard = RedirectPolicy.follow(limit: 20)

    /// Follows at most `limit` redirects in a row. A further redirect ends the call with
    /// ``NetworkError/Kind/tooManyRedirects``.
    public static func follow(limit: Int) -> RedirectPolicy {
        RedirectPolicy(limit: limit, follows: true, decision: nil)
    }

    /// Decides about each redirect with a closure.
    ///
    /// - Parameters:
    ///   - limit: The largest number of redirects in a row. Default: 20.
    ///   - decide: Receives the request that follows the redirect, and the 3xx response. The closure returns the
    ///     request, which it may change, or nil to make the 3xx response the response of the call. If the closure
    ///     changes the origin, the request loses what must not be sent to another origin, as with a redirect to that
    ///     origin. The closure is not called for a redirect that the library refuses, and it cannot change https to
    ///     http. If the body can be read again, the closure can keep a POST with `next.method = .post` and
    ///     `next.body = response.request.body`. The fields that describe the body, and the conditions of the write, are
    ///     then restored. The closure is called on any thread, and must not wait. If the body of a redirect is cut off,
    ///     the closure may be called twice for this redirect.
    public static func deciding(
        limit: Int = 20, _ decide: @escaping @Sendable (_ next: HTTPRequest, _ response: HTTPResponse) -> HTTPRequest?
    ) -> RedirectPolicy {
        RedirectPolicy(limit: limit, follows: true, decision: Decision(decide))
    }

    /// Returns the request that follows a redirect; nil if the redirect is not followed.
    ///
    /// - Throws: ``NetworkError/Kind/redirectRefused`` if the closure changes https to another scheme, keeps a body
    ///   that cannot be read again, or would send the condition of a write to another origin.
    func next(_ target: HTTPRequest, after response: HTTPResponse) throws -> HTTPRequest? {
        guard let decision else { return target }
        guard let decided = decision.decide(target, response.withoutStream) else { return nil }
        let keepsBody = target.body.isEmpty && !decided.body.isEmpty
        let whole = keepsBody ? Redirect.describingBody(decided, of: response.request) : decided
        var next = whole.inCall(of: target).leavingOrigin(of: target, response.request)
        guard next.origin?.scheme == "https" || response.request.origin?.scheme != "https",
            let url = response.request.withoutForeignUser(next.url)
        else {
            throw Redirect.refusal(
                "the redirect policy changed https to another scheme, or returned a URL that cannot be parsed", response
            )
        }
        next.url = url
        try Redirect.check(next, after: response)
        return next
    }
}

/// The part of a request that states the redirect policy of its call.
struct RedirectOrder: HTTPRequest.Order {
    /// Nil means the policy of the service.
    fileprivate(set) var policy: RedirectPolicy?

    var outsideOrigin: RedirectOrder? { self }
    /// A request that does not belong to the call uses the redirect policy of its service.
    var outsideCall: RedirectOrder? { nil }
    /// The policy makes no difference, because each transfer follows its own redirects.
    var identity: [String] { [] }

    func over(_ base: RedirectOrder) -> RedirectOrder { RedirectOrder(policy: policy ?? base.policy) }
}

extension HTTPRequest.Parts {
    var redirects: RedirectOrder { self[order: RedirectOrder.self] }

    /// Sets the policy of the call; nil means that the settings of the next level apply.
    mutating func order(redirects policy: RedirectPolicy?) { self[order: RedirectOrder.self].policy = policy }
}
