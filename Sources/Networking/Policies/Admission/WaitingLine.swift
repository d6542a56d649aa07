/// Waiters in the order of their numbers. A waiter may leave from any position.
struct WaitingLine<Waiter: Sendable>: Sendable {
    private var waiters: [(number: UInt64, waiter: Waiter?)] = []
    private var head = 0
    /// The number of waiters.
    private(set) var count = 0

    /// The number of the first waiter.
    var first: UInt64? { count > 0 ? waiters[head].number : nil }

    /// The numbers of the waiters.
    var numbers: [UInt64] { waiters[head...].filter { $0.waiter != nil }.map(\.number) }

    /// Adds a waiter: at the end with a new number, or at its previous position with the number that it had before.
    mutating func insert(_ waiter: Waiter, number: UInt64) {
        count += 1
        let index = index(of: number)
        if index == head, head > 0 {
            head -= 1
            waiters[head] = (number, waiter)
        } else {
            waiters.insert((number, waiter), at: index)
        }
    }

    /// Removes the first waiter.
    mutating func popFirst() -> Waiter? {
        guard count > 0, let waiter = waiters[head].waiter else { return nil }
        waiters[head].waiter = nil
        count -= 1
        tidy()
        return waiter
    }

    /// Removes the waiter with a number. Returns false if there is none.
    mutating func remove(number: UInt64) -> Bool {
        let index = index(of: number)
        guard index < waiters.count, waiters[index].number == number, waiters[index].waiter != nil else { return false }
        waiters[index].waiter = nil
        count -= 1
        tidy()
        return true
    }

    /// Returns the index of the number, or the index at which it would be inserted.
    private func index(of number: UInt64) -> Int {
        var low = head
        var high = waiters.count
        while low < high {
            let middle = (low + high) / 2
            if waiters[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Moves the head to the first waiter, and releases the memory of the waiters that have left.
    private mutating func tidy() {
        while head < waiters.count, waiters[head].waiter == nil { head += 1 }
        guard head > 32, head * 2 > waiters.count else { return }
        waiters.removeFirst(head)
        head = 0
    }
}

/// A binary heap. It removes the smallest element without comparing all elements.
struct Heap<Element: Comparable & Sendable>: Sendable {
    private(set) var elements: [Element] = []

    var count: Int { elements.count }

    mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0, elements[child] < elements[(child - 1) / 2] {
            elements.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func popSmallest() -> Element? {
        guard elements.count > 1 else { return elements.popLast() }
        elements.swapAt(0, elements.count - 1)
        let smallest = elements.removeLast()
        var parent = 0
        while true {
            let children = (2 * parent + 1...2 * parent + 2).filter { $0 < elements.count }
            guard let least = children.min(by: { elements[$0] < elements[$1] }), elements[least] < elements[parent]
            else { return smallest }
            elements.swapAt(parent, least)
            parent = least
        }
    }
}
