/// How a request is admitted. It is the part of a request that belongs to the admission.
struct AdmissionOrder: HTTPRequest.Order {
    /// The urgency of the request; nil means ``HTTPRequest/Priority/normal``.
    fileprivate(set) var priority: HTTPRequest.Priority?
    /// Whether the request needs a permit; nil means ``RequestSettings/Admission/required``.
    fileprivate(set) var admission: RequestSettings.Admission?
    /// The positions of the request in queues; nil before it waits for a limit.
    fileprivate(set) var positions: QueuePositions?

    var outsideOrigin: AdmissionOrder? { self }

    /// Its priority.
    var outsideCall: AdmissionOrder? {
        var left = AdmissionOrder()
        left.priority = priority
        return priority == nil ? nil : left
    }

    /// A response is the same, however its request was admitted.
    var identity: [String] { [] }

    func over(_ base: AdmissionOrder) -> AdmissionOrder {
        var order = self
        order.priority = priority ?? base.priority
        order.admission = admission ?? base.admission
        return order
    }
}

extension HTTPRequest.Parts {
    var admission: AdmissionOrder { self[order: AdmissionOrder.self] }
}

extension HTTPRequest {
    /// The urgency of the request, for admission policies. Default: ``HTTPRequest/Priority/normal``.
    public var priority: HTTPRequest.Priority { parts.admission.priority ?? .normal }

    /// Whether the request needs a permit.
    var admission: RequestSettings.Admission {
        get { parts.admission.admission ?? .required }
        set { parts[order: AdmissionOrder.self].admission = newValue }
    }

    /// The positions of the request in queues. The request keeps them while it waits for other policies.
    var positions: QueuePositions? { parts.admission.positions }

    /// Sets the urgency of a request that was created by hand.
    package mutating func order(priority: HTTPRequest.Priority) {
        parts[order: AdmissionOrder.self].priority = priority
    }

    /// Lets the request keep its positions in queues from now on.
    mutating func keepPositions() {
        if positions == nil { parts[order: AdmissionOrder.self].positions = QueuePositions() }
    }
}

extension RequestSettings {
    /// The urgency of the call while it waits for a permit. Default: nil, which means ``HTTPRequest/Priority/normal``.
    public var priority: HTTPRequest.Priority? {
        get { orders.admission.priority }
        set { orders[order: AdmissionOrder.self].priority = newValue }
    }

    /// Whether a request needs a permit. Default: nil, which means that the value of the endpoint applies, then the
    /// value of the service, then ``Admission/required``.
    public var admission: Admission? {
        get { orders.admission.admission }
        set { orders[order: AdmissionOrder.self].admission = newValue }
    }
}

/// The positions of a request in queues, by the identities of the queues.
final class QueuePositions: Sendable {
    private let numbers = Locked<[(queue: ObjectIdentifier, number: UInt64)]>([])

    func number(in queue: ObjectIdentifier) -> UInt64? {
        numbers.withLock { $0.first { $0.queue == queue }?.number }
    }

    func note(_ number: UInt64, in queue: ObjectIdentifier) {
        numbers.withLock { numbers in
            if !numbers.contains(where: { $0.queue == queue }) { numbers.append((queue, number)) }
        }
    }
}
