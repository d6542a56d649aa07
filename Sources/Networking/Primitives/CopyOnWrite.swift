/// A value that is stored in a separate allocation. Copies share the allocation until one of the copies is modified.
///
/// A large value is passed as one pointer. Without this type, each copy of the value would copy all its parts, and an
/// asynchronous function stores such copies while it waits.
struct CopyOnWrite<Value: Sendable>: Sendable {
    private final class Box: @unchecked Sendable {  // because the value changes only while the box has one owner
        // Exclusivity is not checked: access to the struct is exclusive already, and a shared box is never modified.
        @exclusivity(unchecked) var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private var box: Box

    init(_ value: Value) {
        box = Box(value)
    }

    /// Whether both values share their memory. Equal values do not always share their memory.
    func isShared(with other: CopyOnWrite) -> Bool { box === other.box }

    var value: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}

/// A list that usually has one element. A single element is stored without a heap allocation.
struct Few<Element> {
    private var head: Element?
    /// The elements after the first.
    private var tail: [Element] = []

    init() {}
    init(_ element: Element) { head = element }

    var isEmpty: Bool { head == nil }

    mutating func append(_ element: Element) {
        if head == nil { head = element } else { tail.append(element) }
    }

    /// Removes the first element that satisfies `predicate`, and returns it.
    @discardableResult
    mutating func remove(where predicate: (Element) -> Bool) -> Element? {
        guard let first = head else { return nil }
        guard predicate(first) else { return tail.firstIndex(where: predicate).map { tail.remove(at: $0) } }
        head = tail.isEmpty ? nil : tail.removeFirst()
        return first
    }

    func first(where predicate: (Element) -> Bool) -> Element? {
        if let head, predicate(head) { return head }
        return tail.first(where: predicate)
    }

    /// Calls `body` with every element, in the order in which the elements were added.
    func forEach(_ body: (Element) -> Void) {
        if let head { body(head) }
        tail.forEach(body)
    }
}

extension Few: Sendable where Element: Sendable {}
