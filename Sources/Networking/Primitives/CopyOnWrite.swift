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
enum Few<Element> {
    case none
    case one(Element)
    /// The array is never empty.
    case many([Element])

    init() {
        self = .none
    }

    init(_ element: Element) {
        self = .one(element)
    }

    var isEmpty: Bool { if case .none = self { true } else { false } }

    mutating func append(_ element: Element) {
        switch self {
        case .none: self = .one(element)
        case .one(let first): self = .many([first, element])
        case .many(var elements):
            self = .none  // so that the array has one owner, and is not copied
            elements.append(element)
            self = .many(elements)
        }
    }

    /// Removes the first element that satisfies `predicate`, and returns it.
    @discardableResult
    mutating func remove(where predicate: (Element) -> Bool) -> Element? {
        switch self {
        case .none:
            return nil
        case .one(let element):
            guard predicate(element) else { return nil }
            self = .none
            return element
        case .many(var elements):
            guard let index = elements.firstIndex(where: predicate) else { return nil }
            self = .none
            let removed = elements.remove(at: index)
            if !elements.isEmpty { self = .many(elements) }
            return removed
        }
    }

    func first(where predicate: (Element) -> Bool) -> Element? {
        switch self {
        case .none: nil
        case .one(let element): predicate(element) ? element : nil
        case .many(let elements): elements.first(where: predicate)
        }
    }

    /// Calls `body` with every element, in the order in which the elements were added.
    func forEach(_ body: (Element) -> Void) {
        switch self {
        case .none: break
        case .one(let element): body(element)
        case .many(let elements): elements.forEach(body)
        }
    }
}

extension Few: Sendable where Element: Sendable {}
