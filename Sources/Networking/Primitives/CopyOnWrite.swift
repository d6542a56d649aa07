/// A value in memory of its own, which copies share until one of them is changed.
///
/// What is large is carried as one pointer: each function that waits keeps its variables for as long, and each copy
/// would be one of every part.
struct CopyOnWrite<Value: Sendable>: Sendable {
    private final class Box: @unchecked Sendable {  // because it is changed only while one holder alone has it
        // Unchecked: the holder is changed by one at a time, and with it the box that is its own.
        @exclusivity(unchecked) var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private var box: Box

    init(_ value: Value) {
        box = Box(value)
    }

    var value: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}
