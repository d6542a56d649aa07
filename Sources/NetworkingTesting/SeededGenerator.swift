/// A random number generator that returns the same numbers in every run. It implements SplitMix64.
///
/// ```swift
/// var random = SeededGenerator(seed: 7)
/// let delay = Int.random(in: 0..<100, using: &random)
/// ```
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator. Equal seeds give equal numbers.
    public init(seed: UInt64) {
        state = seed
    }

    /// Returns the next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15 as UInt64
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* (0xBF58_476D_1CE4_E5B9 as UInt64)
        mixed = (mixed ^ (mixed >> 27)) &* (0x94D0_49BB_1331_11EB as UInt64)
        return mixed ^ (mixed >> 31)
    }
}
