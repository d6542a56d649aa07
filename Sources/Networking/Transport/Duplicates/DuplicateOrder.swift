/// How a call is compared with calls in progress. It is the part of a request that belongs to the duplicates.
struct DuplicateOrder: HTTPRequest.Order {
    /// The policy of the call; nil means the policy of the service.
    fileprivate(set) var policy: DuplicateRequestPolicy?
    /// The group of the call. Requests of one group are duplicates of each other even if they differ.
    fileprivate(set) var group: String?

    var outsideOrigin: DuplicateOrder? { self }
    /// A validation in the background is not compared by the policy of a call.
    var outsideCall: DuplicateOrder? { nil }
    /// Groups are compared in ``DuplicateKey``, because the requests of one group may differ.
    var identity: [String] { [] }

    func over(_ base: DuplicateOrder) -> DuplicateOrder {
        var order = self
        order.policy = policy ?? base.policy
        order.group = group ?? base.group
        return order
    }
}

extension HTTPRequest.Parts {
    var duplicates: DuplicateOrder { self[order: DuplicateOrder.self] }

    /// Sets the policy of the call; nil means that the settings of the next level apply.
    mutating func order(duplicates policy: DuplicateRequestPolicy?) { self[order: DuplicateOrder.self].policy = policy }

    /// Sets the group of the call; nil means that the settings of the next level apply.
    mutating func order(duplicateGroup group: String?) { self[order: DuplicateOrder.self].group = group }
}
