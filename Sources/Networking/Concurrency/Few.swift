/// A list that nearly always has one element, which takes no memory of its own.
struct Few<Element> {
    private var first: Element?
    private var others: [Element] = []

    init() {}

    init(_ element: Element) {
        first = element
    }

    var isEmpty: Bool { first == nil }

    mutating func append(_ element: Element) {
        if first == nil { first = element } else { others.append(element) }
    }

    /// Removes the first element for which `isIt` holds.
    mutating func remove(where isIt: (Element) -> Bool) {
        guard let first else { return }
        if isIt(first) {
            self.first = others.isEmpty ? nil : others.removeFirst()
        } else if let index = others.firstIndex(where: isIt) {
            others.remove(at: index)
        }
    }

    /// Calls `body` with every element, in the order of their coming.
    func forEach(_ body: (Element) -> Void) {
        if let first { body(first) }
        for other in others { body(other) }
    }
}

extension Few: Sendable where Element: Sendable {}
