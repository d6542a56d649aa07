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
