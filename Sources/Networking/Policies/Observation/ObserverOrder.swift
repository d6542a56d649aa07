/// The observers of one call. Only the code in the folder `Observation` changes this part of a request.
struct ObserverOrder: HTTPRequest.Order {
    /// Nil means that the next level of the settings determines the observers: the endpoint, then the service.
    fileprivate(set) var observers: [any RequestObserver]?

    var outsideOrigin: ObserverOrder? { self }
    /// A request that is kept after its call does not keep the observers.
    var outsideCall: ObserverOrder? { nil }
    /// Empty, because observers do not change a request.
    var identity: [String] { [] }

    func over(_ base: ObserverOrder) -> ObserverOrder { ObserverOrder(observers: observers ?? base.observers) }
}

extension RequestSettings {
    /// The observers of the call. They are notified after the observers of the service
    /// (``NetworkRequesting/observers``). Default: none.
    public var observers: [any RequestObserver]? {
        get { orders[order: ObserverOrder.self].observers }
        set { orders[order: ObserverOrder.self].observers = newValue }
    }
}
