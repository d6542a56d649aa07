/// Those who wait, in the order in which they came; whoever stands anywhere in it may leave.
struct WaitingLine<Waiter: Sendable>: Sendable {
    private var waiters: [(number: UInt64, waiter: Waiter?)] = []
    private var head = 0
    /// How many wait.
    private(set) var count = 0

    /// The number of the one who has waited longest.
    var first: UInt64? { count > 0 ? waiters[head].number : nil }

    /// Numbers have to grow.
    mutating func append(_ waiter: Waiter, number: UInt64) {
        waiters.append((number, waiter))
        count += 1
    }

    /// Takes out the one who has waited longest.
    mutating func popFirst() -> Waiter? {
        guard count > 0, let waiter = waiters[head].waiter else { return nil }
        waiters[head].waiter = nil
        count -= 1
        tidy()
        return waiter
    }

    /// Takes out the one with a number; false where nobody has it any more.
    mutating func remove(number: UInt64) -> Bool {
        var low = head
        var high = waiters.count
        while low < high {
            let middle = (low + high) / 2
            if waiters[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < waiters.count, waiters[low].number == number, waiters[low].waiter != nil else { return false }
        waiters[low].waiter = nil
        count -= 1
        tidy()
        return true
    }

    /// Has the head stand at somebody, and gives back the memory of those who have left.
    private mutating func tidy() {
        while head < waiters.count, waiters[head].waiter == nil { head += 1 }
        guard head > 32, head * 2 > waiters.count else { return }
        waiters.removeFirst(head)
        head = 0
    }
}
