/// What a policy knows of each origin. Expired values are removed as new origins come, so that a client of many
/// hosts, one after another, keeps the last ones.
struct OriginTable<Value: Sendable>: Sendable {
    private var values: [HTTPOrigin: Value] = [:]
    /// How many there may be before it is cleaned up: twice what was left the last time, so that a look at all of
    /// them is rare.
    private var evictionThreshold = 64

    var count: Int { values.count }
    var isEmpty: Bool { values.isEmpty }

    subscript(origin: HTTPOrigin) -> Value? {
        get { values[origin] }
        set { values[origin] = newValue }
    }

    /// Changes what it knows of an origin where that stands; of a new one it is the value given.
    mutating func change<Result>(
        _ origin: HTTPOrigin, from value: @autoclosure () -> Value, _ body: (inout Value) -> Result
    ) -> Result {
        body(&values[origin, default: value()])
    }

    /// Before a new origin comes.
    mutating func makeRoom(for origin: HTTPOrigin, keeping isWorthKeeping: (Value) -> Bool) {
        guard values.count >= evictionThreshold, values[origin] == nil else { return }
        values = values.filter { isWorthKeeping($0.value) }
        evictionThreshold = max(64, values.count * 2)
    }
}
