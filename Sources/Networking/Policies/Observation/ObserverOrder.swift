/// The observers of one call: the part of a request that the room `Observation` writes.
struct ObserverOrder: HTTPRequest.Order {
    /// Nil means the observers of the next level.
    fileprivate(set) var observers: [any RequestObserver]?

    var outsideOrigin: ObserverOrder? { self }
    /// A request that is kept after its call does not keep the observers.
    var outsideCall: ObserverOrder? { nil }
    /// Empty, because observers do not change a request.
    var identity: [String] { [] }

    func over(_ base: ObserverOrder) -> ObserverOrder { ObserverOrder(observers: observers ?? base.observers) }
}

extension RequestSettings {
    /// The observers of the call, in addition to the observers of the service (``NetworkRequesting/observers``), which
    /// are notified first. Default: none.
    public var observers: [any RequestObserver]? {
        get { orders[order: ObserverOrder.self].observers }
        set { orders[order: ObserverOrder.self].observers = newValue }
    }
}
