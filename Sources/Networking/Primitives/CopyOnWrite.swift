/// A value in its own allocation. Copies share it until one of them is modified.
///
/// A large value is passed as one pointer. Otherwise, each copy of the value would copy every part of it, and an
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

    /// Whether both values share their memory. Equal values do not always share it.
    func isShared(with other: CopyOnWrite) -> Bool { box === other.box }

    var value: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}
