/// The bytes that distinguish states, and their fingerprint.
struct StateKey {
    /// 128 bits that are computed from the bytes of a state. The probability that two of 20 million states have the
    /// same fingerprint is below 10⁻²³.
    struct Fingerprint: Hashable {
        let high: UInt64
        let low: UInt64

        func hash(into hasher: inout Hasher) { hasher.combine(low) }
    }

    private(set) var bytes: [UInt8] = []

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    mutating func write(_ byte: UInt8) { bytes.append(byte) }

    mutating func write(_ bits: Bool...) {
        for first in stride(from: 0, to: bits.count, by: 8) {
            bytes.append(bits[first...].prefix(8).reduce(0) { $0 << 1 | ($1 ? 1 : 0) })
        }
    }

    mutating func write(_ other: [UInt8]) { bytes += other }

    var fingerprint: Fingerprint {
        var high: UInt64 = 0x9E37_79B9_7F4A_7C15
        var low: UInt64 = 0xC2B2_AE3D_27D4_EB4F
        for byte in bytes {
            high = (high ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
            low = (low &+ UInt64(byte) &+ 1) &* 0xFF51_AFD7_ED55_8CCD
            low ^= low >> 29
        }
        return Fingerprint(high: Self.mixed(high), low: Self.mixed(low))
    }

    private static func mixed(_ bits: UInt64) -> UInt64 {
        var bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
