/// A queue of elements that are delivered one at a time and in order. The thread that begins first delivers all
/// elements, outside the lock that protects this queue.
struct DeliveryQueue<Element> {
    private var elements: [Element?] = []
    private var head = 0
    private var isDelivering = false

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Returns whether the caller must deliver. If true, the caller calls ``next()`` until it returns nil. If false, a
    /// delivery in progress delivers all elements.
    mutating func begin() -> Bool {
        defer { isDelivering = true }
        return !isDelivering
    }

    /// Returns the next element. Nil ends the delivery.
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
