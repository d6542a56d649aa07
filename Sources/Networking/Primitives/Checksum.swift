/// A checksum of 64 bits, which detects damaged files. It does not protect against deliberate changes.
///
/// Each step adds eight bytes, and is a bijection both of the state and of these bytes. Therefore, a change within the
/// eight bytes of one step always changes the checksum. Any other change is detected with a probability of 1 - 2⁻⁶⁴.
package struct Checksum: Sendable {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325
    /// The bytes after the last complete group of eight.
    private var rest: UInt64 = 0
    private var count: UInt64 = 0

    /// The checksum of the bytes so far.
    package var value: UInt64 {
        var final = self
        final.add(final.rest)
        final.add(final.count)
        return final.state
    }

    package init() {}

    package mutating func update(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { update(byte) }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var position = 0
        while position < bytes.count, count % 8 != 0 {
            update(bytes[position])
            position += 1
        }
        while position + 8 <= bytes.count {
            add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
            count += 8
            position += 8
        }
        while position < bytes.count {
            update(bytes[position])
            position += 1
        }
    }

    private mutating func update(_ byte: UInt8) {
        rest |= UInt64(byte) << (count % 8 * 8)
        count += 1
        if count % 8 == 0 {
            add(rest)
            rest = 0
        }
    }

    private mutating func add(_ group: UInt64) {
        state = (state ^ group) &* UInt64(0x9E37_79B9_7F4A_7C15)
        state ^= state >> 32
    }
}

extension UInt64 {
    /// The number as 16 hexadecimal digits.
    package var hexadecimal: String {
        String(unsafeUninitializedCapacity: 16) { digits in
            for index in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: self >> (60 - UInt64(index) * 4)) & 0xF
                digits[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            }
            return 16
        }
    }
}
