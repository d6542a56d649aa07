/// Those who wait, by the order of their numbers; whoever stands anywhere in it may leave.
struct WaitingLine<Waiter: Sendable>: Sendable {
    private var waiters: [(number: UInt64, waiter: Waiter?)] = []
    private var head = 0
    /// How many wait.
    private(set) var count = 0

    /// The number of the one who has waited longest.
    var first: UInt64? { count > 0 ? waiters[head].number : nil }

    /// Adds a waiter: at the end with a number that is new, at its place with one that it had before.
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

    /// Takes out the one who has waited longest.
    mutating func popFirst() -> Waiter? {
        guard count > 0, let waiter = waiters[head].waiter else { return nil }
        waiters[head].waiter = nil
        count -= 1
        tidy()
        return waiter
    }

    /// Takes out the one with a number; false if nobody has it any more.
    mutating func remove(number: UInt64) -> Bool {
        let index = index(of: number)
        guard index < waiters.count, waiters[index].number == number, waiters[index].waiter != nil else { return false }
        waiters[index].waiter = nil
        count -= 1
        tidy()
        return true
    }

    /// Where the number is, or would be.
    private func index(of number: UInt64) -> Int {
        var low = head
        var high = waiters.count
        while low < high {
            let middle = (low + high) / 2
            if waiters[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Has the head stand at somebody, and gives back the memory of those who have left.
    private mutating func tidy() {
        while head < waiters.count, waiters[head].waiter == nil { head += 1 }
        guard head > 32, head * 2 > waiters.count else { return }
        waiters.removeFirst(head)
        head = 0
    }
}

/// The smallest of many, found without a look at the others.
struct Heap<Element: Comparable & Sendable>: Sendable {
    private var elements: [Element] = []

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
