/// How the request of a call is repeated, and how often it was. It is the part of a request that belongs to the retries.
struct RetryOrder: HTTPRequest.Order {
    /// The policy of the call; nil means the policy of the service.
    fileprivate(set) var policy: RetryPolicy?
    /// The retries of each handler so far.
    fileprivate var histories: [ObjectIdentifier: RetryPolicy.History] = [:]

    func history(of handler: ObjectIdentifier) -> RetryPolicy.History { histories[handler] ?? RetryPolicy.History() }

    var outsideOrigin: RetryOrder? { self }
    /// A request that does not belong to the call is not repeated by its policy.
    var outsideCall: RetryOrder? { nil }
    /// A response is the same, however often its request is repeated.
    var identity: [String] { [] }

    func over(_ base: RetryOrder) -> RetryOrder {
        var order = self
        order.policy = policy ?? base.policy
        order.histories.merge(base.histories) { own, _ in own }
        return order
    }
}

extension HTTPRequest.Parts {
    var retry: RetryOrder { self[order: RetryOrder.self] }
}

extension HTTPRequest {
    /// Returns the request with one more retry of a handler, in addition to the retries of the original request.
    func notingRetry(after delay: Duration, by handler: ObjectIdentifier, of original: HTTPRequest) -> HTTPRequest {
        var order = original.parts.retry
        order.histories[handler, default: RetryPolicy.History()].retries += 1
        order.histories[handler]?.lastDelay = delay
        var request = self
        request.parts[RetryOrder.self] = order
        return request
    }
}

extension RequestSettings {
    /// The policy for retries of the call. Default: nil, which means that the policy of the endpoint applies, or else
    /// the policy of the service. If there is no policy, there are no retries. ``RetryPolicy/never`` prevents retries
    /// even if the endpoint or the service has a policy.
    public var retry: RetryPolicy? {
        get { orders.retry.policy }
        set { orders[order: RetryOrder.self].policy = newValue }
    }
}
