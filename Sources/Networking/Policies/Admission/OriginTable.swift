/// The values of a policy for each origin. Expired values are removed when new origins are added, so that a client that
/// uses many hosts retains only the values of recent hosts.
struct OriginTable<Value: Sendable>: Sendable {
    private var values: [HTTPOrigin: Value] = [:]
    /// The number of values at which expired values are removed. It is twice the number of values that the last removal
    /// kept, so that a search through all values is rare.
    private var evictionThreshold = 64

    var count: Int { values.count }
    var isEmpty: Bool { values.isEmpty }

    subscript(origin: HTTPOrigin) -> Value? {
        get { values[origin] }
        set { values[origin] = newValue }
    }

    /// Changes the value of an origin in place. A new origin starts with `value`.
    mutating func change<Result>(
        _ origin: HTTPOrigin, from value: @autoclosure () -> Value, _ body: (inout Value) -> Result
    ) -> Result {
        body(&values[origin, default: value()])
    }

    /// Removes expired values before a new origin is added.
    mutating func makeRoom(for origin: HTTPOrigin, keeping isWorthKeeping: (Value) -> Bool) {
        guard values.count >= evictionThreshold, values[origin] == nil else { return }
        values = values.filter { isWorthKeeping($0.value) }
        evictionThreshold = max(64, values.count * 2)
    }
}
