/// A check whether bytes that arrive in pieces are UTF-8 (RFC 3629). A piece may end inside a character.
package struct UTF8Check: Sendable {
    /// The number of bytes that the current character still needs.
    private var missing = 0
    /// The values that the next byte of the current character may have.
    private var (low, high): (UInt8, UInt8) = (0x80, 0xBF)

    package init() {}

    /// False if the bytes so far end inside a character.
    package var isComplete: Bool { missing == 0 }

    /// Takes the next bytes.
    ///
    /// - Returns: Whether the bytes so far can be the beginning of UTF-8.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            if missing == 0 {
                while index + 8 <= bytes.count,
                    bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
                { index += 8 }
                guard index < bytes.count else { break }
                guard begin(bytes[index]) else { return false }
            } else {
                guard bytes[index] >= low, bytes[index] <= high else { return false }
                (missing, low, high) = (missing - 1, 0x80, 0xBF)
            }
            index += 1
        }
        return true
    }

    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case ..<0x80: break
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, low) = (2, 0xA0)
        case 0xED: (missing, high) = (2, 0x9F)  // no surrogates
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, low) = (3, 0x90)
        case 0xF1...0xF3: missing = 3
        case 0xF4: (missing, high) = (3, 0x8F)
        default: return false
        }
        return true
    }
}
