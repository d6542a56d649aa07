/// What is to be delivered one at a time and in order, by the thread that comes first, outside of the lock that guards
/// this.
struct DeliveryQueue<Element> {
    private var elements: [Element?] = []
    private var head = 0
    private var isDelivering = false

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Whether the caller has to deliver, by ``next()`` until that is nil. If not, another thread delivers everything.
    mutating func begin() -> Bool {
        defer { isDelivering = true }
        return !isDelivering
    }

    /// The next element; nil ends the delivery.
    mutating func next() -> Element? {
        guard head < elements.count else {
            isDelivering = false
            removeAll()
            return nil
        }
        let element = elements[head]
        elements[head] = nil
        head += 1
        if head > 32, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    mutating func removeAll() {
        elements.removeAll(keepingCapacity: elements.count < 64)
        head = 0
    }
}

extension DeliveryQueue: Sendable where Element: Sendable {}
