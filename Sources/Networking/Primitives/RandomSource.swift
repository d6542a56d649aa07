package import Foundation

/// A source of random numbers. The library uses it for idempotency keys, the identifiers of calls and the jitter of
/// delays. Tests can replace the default, ``system``, with a seeded generator.
public struct RandomSource: RandomNumberGenerator, Sendable {
    private let draw: @Sendable () -> UInt64
    private let drawPair: @Sendable () -> (UInt64, UInt64)

    /// The system's generator.
    public static let system: RandomSource = {
        let draw: @Sendable () -> UInt64 = {
            var generator = SystemRandomNumberGenerator()
            return generator.next()
        }
        #if os(Linux)
            return RandomSource(
                draw,
                pair: {
                    // The pair needs one system call instead of two. (On Apple platforms, a random number needs no
                    // system call.)
                    var pair: (UInt64, UInt64) = (0, 0)
                    let result = withUnsafeMutableBytes(of: &pair) { getentropy($0.baseAddress, $0.count) }
                    return result == 0 ? pair : (draw(), draw())
                })
        #else
            return RandomSource(draw)
        #endif
    }()

    /// Creates a source from a generator. Copies of the source share the generator and are safe to use from any thread.
    public init(_ generator: some RandomNumberGenerator & Sendable) {
        let shared = Locked(generator)
        self.init { shared.withLock { $0.next() } }
    }

    private init(
        _ draw: @escaping @Sendable () -> UInt64, pair: (@Sendable () -> (UInt64, UInt64))? = nil
    ) {
        self.draw = draw
        drawPair = pair ?? { (draw(), draw()) }
    }

    /// Returns a random UUID of version 4 (RFC 9562 section 5.4).
    package func uuid() -> UUID {
        let (high, low) = drawPair()
        func byte(_ bits: UInt64, _ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: bits >> (8 * index)) }
        return UUID(
            uuid: (
                byte(high, 7), byte(high, 6), byte(high, 5), byte(high, 4), byte(high, 3), byte(high, 2),
                byte(high, 1) & 0x0F | 0x40, byte(high, 0), byte(low, 7) & 0x3F | 0x80, byte(low, 6), byte(low, 5),
                byte(low, 4), byte(low, 3), byte(low, 2), byte(low, 1), byte(low, 0)
            ))
    }

    /// Returns a random number from 0 to 1.
    package func fraction() -> Double {
        var source = self
        return .random(in: 0..<1, using: &source)
    }

    /// Returns the next 64 random bits.
    public func next() -> UInt64 { draw() }
}
