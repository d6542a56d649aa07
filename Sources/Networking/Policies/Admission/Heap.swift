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
