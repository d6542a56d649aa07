/// Where the library's chance comes from: the jitter of waits, idempotency keys. A test puts a seeded generator in its place.
public struct RandomSource: RandomNumberGenerator, Sendable {
    private let draw: @Sendable () -> UInt64

    /// The system's generator.
    public static let system = RandomSource {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    /// Makes a source of a generator; copies draw from the same one, from any thread.
    public init(_ generator: some RandomNumberGenerator & Sendable) {
        let shared = Locked(generator)
        self.init { shared.withLock { $0.next() } }
    }

    private init(_ draw: @escaping @Sendable () -> UInt64) {
        self.draw = draw
    }

    /// The next random bits.
    public func next() -> UInt64 { draw() }
}
