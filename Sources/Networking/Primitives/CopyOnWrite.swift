/// A value in its own allocation. Copies share it until one of them is modified.
///
/// Large values are passed as one pointer, because an asynchronous function stores its variables while it waits, and
/// each copy of the value would copy every part of it.
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

    /// Whether both values share their memory. Values that are equal may not share it.
    func isShared(with other: CopyOnWrite) -> Bool { box === other.box }

    var value: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}
