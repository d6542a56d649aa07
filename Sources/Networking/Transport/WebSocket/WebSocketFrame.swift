/// The head of a frame (RFC 6455 section 5.2).
package struct WebSocketFrame: Equatable, Sendable {
    /// What a frame carries.
    package enum Opcode: UInt8, Sendable {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    package var opcode: Opcode
    /// Whether the frame is the last one of its message.
    package var isFinal = true
    /// Whether the message that the frame begins is compressed (RFC 7692).
    package var isCompressed = false
    /// The number of bytes of the payload.
    package var length: Int
    /// The mask of the payload, as its four bytes lie in memory; nil in a frame of a server.
    package var mask: UInt32?

    package init(_ opcode: Opcode, length: Int, mask: UInt32? = nil) {
        self.opcode = opcode
        self.length = length
        self.mask = mask
    }

    /// The maximum number of bytes of a head.
    package static let largestHead = 14
    /// The maximum number of bytes of a control frame's payload.
    package static let largestControl = 125

    /// Writes the head.
    ///
    /// - Parameter buffer: Memory of at least ``largestHead`` bytes.
    /// - Returns: The number of bytes of the head.
    package func write(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        buffer[0] = opcode.rawValue | (isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0)
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        var count = 2
        switch length {
        case ..<126:
            buffer[1] = UInt8(length) | maskBit
        case ..<65_536:
            buffer[1] = 126 | maskBit
            buffer.storeBytes(of: UInt16(length).bigEndian, toByteOffset: 2, as: UInt16.self)
            count = 4
        default:
            buffer[1] = 127 | maskBit
            buffer.storeBytes(of: UInt64(length).bigEndian, toByteOffset: 2, as: UInt64.self)
            count = 10
        }
        guard let mask else { return count }
        buffer.storeBytes(of: mask, toByteOffset: count, as: UInt32.self)
        return count + 4
    }

    /// Applies a mask to bytes of a payload, in place. Applying the mask a second time restores the bytes (RFC 6455
    /// section 5.3).
    ///
    /// - Parameter offset: The position of the first byte in the payload.
    package static func apply(mask: UInt32, from offset: Int, to bytes: UnsafeMutableRawBufferPointer) {
        let shift = UInt32(8 * (offset & 3))
        let key = mask.littleEndian  // its lowest byte is the first one
        let rotated = shift == 0 ? key : key >> shift | key << (32 - shift)
        let wide = (UInt64(rotated) | UInt64(rotated) << 32).littleEndian
        var index = 0
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ wide
            bytes.storeBytes(of: word, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        while index < bytes.count {
            bytes[index] ^= UInt8(truncatingIfNeeded: rotated >> UInt32(8 * (index & 3)))
            index += 1
        }
    }
}

/// A failure that ends a connection: what the peer did, and the close code that reports it to the peer.
package struct WebSocketFault: Error, Equatable {
    package let code: WebSocketClose.Code
    package let reason: String

    package init(_ code: WebSocketClose.Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The fault of the text of a message; nil if it has none. Comparing a text with many combining marks in a row could
    /// take hours.
    init?(in text: String) {
        guard !CombiningMarks.areFew(in: text) else { return nil }
        self.init(
            .policyViolation, "a text message has more than \(CombiningMarks.largestCount) combining marks in a row")
    }

    static func protocolError(_ reason: String) -> WebSocketFault { WebSocketFault(.protocolError, reason) }

    /// The error for the reader of the socket.
    package var networkError: NetworkError {
        NetworkError(code == .messageTooBig ? .responseTooLarge : .malformedResponse, reason: "WebSocket: \(reason)")
    }
}
