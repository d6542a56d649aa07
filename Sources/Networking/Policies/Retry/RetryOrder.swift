/// How the request of a call is repeated. It is the part of a request that belongs to the retries. The retries so far
/// are in the history of the call.
struct RetryOrder: HTTPRequest.Order {
    /// The policy of the call; nil means the policy of the service.
    fileprivate(set) var policy: RetryPolicy?

    var outsideOrigin: RetryOrder? { self }
    /// A request that does not belong to the call is not repeated by its policy.
    var outsideCall: RetryOrder? { nil }
    /// A response is the same, however often its request is repeated.
    var identity: [String] { [] }

    func over(_ base: RetryOrder) -> RetryOrder {
        policy == nil ? base : self
    }
}

extension HTTPRequest.Parts {
    var retry: RetryOrder { self[order: RetryOrder.self] }
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
