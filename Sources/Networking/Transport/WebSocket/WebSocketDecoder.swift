package import Foundation

/// A decoder of the frames that arrive on a connection (RFC 6455 section 5). It takes bytes in any pieces, and returns
/// one event at a time, so that its caller can stop between two messages.
package struct WebSocketDecoder {
    /// What has arrived.
    package enum Event: Equatable {
        case message(WebSocketMessage)
        case ping(Data)
        case pong(Data)
        /// The close frame. Nothing after it is read.
        case close(WebSocketClose)
    }

    /// A message whose last frame has not arrived yet.
    private struct Partial {
        var opcode: WebSocketFrame.Opcode
        var isCompressed: Bool
        var bytes = Data()
        var text = UTF8Check()
    }

    /// Whether each frame must have a mask. The frames of a client have a mask, the frames of a server do not.
    private let isMasked: Bool
    /// The maximum number of bytes of a message, after decompression.
    private let limit: Int
    /// Decompresses messages; nil if no extension was agreed on.
    private let inflater: WebSocketInflater?
    /// The beginning of a head that arrives in several pieces.
    private var headBytes: [UInt8] = []
    private var frame: WebSocketFrame?
    /// The number of bytes of the current frame's payload that have been read.
    private var position = 0
    private var partial: Partial?
    private var control = Data()
    private var isClosed = false

    package init(expectsMask isMasked: Bool, messageLimit limit: Int, inflater: WebSocketInflater? = nil) {
        self.isMasked = isMasked
        self.limit = limit
        self.inflater = inflater
    }

    /// Reads bytes up to the next event. After a close frame, all bytes are dropped.
    ///
    /// - Parameter input: The bytes that have arrived. What was read is removed from its beginning.
    /// - Returns: The event; nil if more bytes are needed.
    /// - Throws: The fault, after which the decoder must not be used again.
    package mutating func next(_ input: inout UnsafeRawBufferPointer) throws(WebSocketFault) -> Event? {
        guard !isClosed else {
            input = UnsafeRawBufferPointer(rebasing: input[input.endIndex...])
            return nil
        }
        while true {
            if frame == nil, try !readHead(&input) { return nil }
            guard let frame else { return nil }
            let count = min(frame.length - position, input.count)
            try take(UnsafeRawBufferPointer(rebasing: input[..<count]), of: frame)
            input = UnsafeRawBufferPointer(rebasing: input[count...])
            position += count
            guard position == frame.length else { return nil }
            (self.frame, position) = (nil, 0)
            if let event = try end(frame) { return event }
        }
    }
}

/// Heads.
extension WebSocketDecoder {
    /// Reads the head of the next frame.
    ///
    /// - Returns: Whether the head is complete.
    private mutating func readHead(_ input: inout UnsafeRawBufferPointer) throws(WebSocketFault) -> Bool {
        while true {
            let known = headBytes.count
            let needed = known < 2 ? 2 : WebSocketDecoder.size(ofHeadWith: headBytes[1])
            if known == needed, known > 2 || WebSocketDecoder.size(ofHeadWith: headBytes[1]) == 2 {
                frame = try checked(parse(headBytes))
                headBytes.removeAll(keepingCapacity: true)
                return true
            }
            let target = known < 2 ? 2 : needed
            guard let byte = input.first else { return false }
            headBytes.append(byte)
            input = UnsafeRawBufferPointer(rebasing: input.dropFirst())
            if headBytes.count == 2, target == 2 { try check(first: headBytes[0], second: headBytes[1]) }
        }
    }

    /// Returns the number of bytes of a head, by its second byte.
    private static func size(ofHeadWith second: UInt8) -> Int {
        let length = second & 0x7F
        return 2 + (length == 126 ? 2 : length == 127 ? 8 : 0) + (second & 0x80 == 0 ? 0 : 4)
    }

    /// Checks the first two bytes, before the decoder waits for more bytes.
    private func check(first: UInt8, second: UInt8) throws(WebSocketFault) {
        guard first & 0x30 == 0 else { throw .protocolError("expected the reserved bits 2 and 3 to be 0, found 1") }
        guard let opcode = WebSocketFrame.Opcode(rawValue: first & 0x0F) else {
            throw .protocolError("expected an opcode of RFC 6455, found \(first & 0x0F)")
        }
        guard (second & 0x80 != 0) == isMasked else {
            throw .protocolError(
                isMasked
                    ? "expected a masked frame, found one without a mask"
                    : "expected a frame without a mask, found a masked frame from the server")
        }
        if opcode.isControl {
            guard first & 0x80 != 0 else {
                throw .protocolError("expected a complete control frame, found a fragmented one")
            }
            guard second & 0x7F <= WebSocketFrame.largestControl else {
                throw .protocolError("expected at most 125 bytes in a control frame, found more")
            }
        } else if opcode == .continuation {
            guard partial != nil else {
                throw .protocolError("expected the first frame of a message, found a continuation frame")
            }
        } else {
            guard partial == nil else {
                throw .protocolError(
                    "expected a continuation frame of the current message, found the first frame of another message")
            }
        }
        guard first & 0x40 == 0 || inflater != nil && (opcode == .text || opcode == .binary) else {
            throw .protocolError("expected the reserved bit 1 to be 0, found 1")
        }
    }

    private func parse(_ bytes: [UInt8]) throws(WebSocketFault) -> WebSocketFrame {
        let length = bytes[1] & 0x7F
        let longer = length == 126 ? bytes[2..<4] : length == 127 ? bytes[2..<10] : []
        let value = longer.isEmpty ? UInt64(length) : longer.reduce(0) { $0 << 8 | UInt64($1) }
        guard longer.isEmpty || value > (longer.count == 2 ? 125 : 65_535), value <= UInt64(Int.max) else {
            throw .protocolError("expected a length in its shortest form, found \(value) in \(longer.count) bytes")
        }
        // `check(first:second:)` has checked the opcode.
        var frame = WebSocketFrame(.init(rawValue: bytes[0] & 0x0F) ?? .close, length: Int(value))
        frame.isFinal = bytes[0] & 0x80 != 0
        frame.isCompressed = bytes[0] & 0x40 != 0
        if bytes[1] & 0x80 != 0 {
            frame.mask = bytes.suffix(4).withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        }
        return frame
    }

    /// Begins a message, and checks the length of the frame.
    private mutating func checked(_ frame: WebSocketFrame) throws(WebSocketFault) -> WebSocketFrame {
        guard !frame.opcode.isControl else { return frame }
        if frame.opcode != .continuation {
            partial = Partial(opcode: frame.opcode, isCompressed: frame.isCompressed)
        }
        guard let partial, !partial.isCompressed else { return frame }
        guard frame.length <= limit - partial.bytes.count else { throw tooLarge() }
        if frame.isFinal { self.partial?.bytes.reserveCapacity(min(partial.bytes.count + frame.length, 1 << 16)) }
        return frame
    }

    private func tooLarge() -> WebSocketFault {
        WebSocketFault(.messageTooBig, "expected a message of at most \(limit) bytes, found more (maximumMessageSize)")
    }
}

/// Payloads.
extension WebSocketDecoder {
    /// Takes bytes of the payload of the current frame.
    private mutating func take(
        _ bytes: UnsafeRawBufferPointer, of frame: WebSocketFrame
    ) throws(WebSocketFault) {
        guard !bytes.isEmpty else { return }
        if let mask = frame.mask {
            var copy = Data(bytes)
            let position = position
            copy.withUnsafeMutableBytes { WebSocketFrame.apply(mask: mask, from: position, to: $0) }
            try copy.withBytes { (bytes) throws(WebSocketFault) in try add(bytes, of: frame) }
        } else {
            try add(bytes, of: frame)
        }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer, of frame: WebSocketFrame) throws(WebSocketFault) {
        if frame.opcode.isControl { return control.append(contentsOf: bytes) }
        let start = partial?.bytes.count ?? 0
        if partial?.isCompressed == true {
            try inflate(bytes)
        } else {
            partial?.bytes.append(contentsOf: bytes)
        }
        try checkText(from: start)
    }

    private mutating func inflate(_ bytes: UnsafeRawBufferPointer) throws(WebSocketFault) {
        guard let inflater, var message = partial else { return }
        partial = nil  // so that the bytes so far are not copied
        let result = inflater.inflate(bytes, into: &message.bytes, limit: limit)
        partial = message
        switch result {
        case .done: return
        case .tooLarge: throw tooLarge()
        case .broken: throw WebSocketFault(.invalidData, "a compressed message is not valid deflate (RFC 7692)")
        }
    }

    private mutating func checkText(from start: Int) throws(WebSocketFault) {
        guard var text = partial?.text, partial?.opcode == .text, let bytes = partial?.bytes else { return }
        let isValid = bytes.withUnsafeBytes { text.take(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        guard isValid else { throw WebSocketFault(.invalidData, "a text message is not UTF-8") }
        partial?.text = text
    }

    /// Ends a frame whose payload has arrived.
    ///
    /// - Returns: The event; nil if the message continues in another frame.
    private mutating func end(_ frame: WebSocketFrame) throws(WebSocketFault) -> Event? {
        guard !frame.opcode.isControl else {
            defer { control = Data() }
            switch frame.opcode {
            case .ping: return .ping(control)
            case .pong: return .pong(control)
            default:
                let close = try WebSocketClose(payload: control)
                isClosed = true
                return .close(close)
            }
        }
        guard frame.isFinal else { return nil }
        if partial?.isCompressed == true {
            let start = partial?.bytes.count ?? 0
            try [0, 0, 0xFF, 0xFF].withBytes { (tail) throws(WebSocketFault) in try inflate(tail) }
            inflater?.endMessage()
            try checkText(from: start)
        }
        guard let message = partial else { return nil }
        partial = nil
        guard message.opcode == .text else { return .message(.binary(message.bytes)) }
        guard message.text.isComplete else { throw WebSocketFault(.invalidData, "a text message ends inside UTF-8") }
        let text = String(decoding: message.bytes, as: UTF8.self)
        if let fault = WebSocketFault(in: text) { throw fault }
        return .message(.text(text))
    }
}

extension WebSocketClose {
    /// Reads the payload of a close frame (RFC 6455 section 5.5.1).
    init(payload: Data) throws(WebSocketFault) {
        guard !payload.isEmpty else {
            self.init(.none)
            return
        }
        guard payload.count >= 2 else { throw .protocolError("expected a code in a close frame, found one byte") }
        let code = Code(rawValue: UInt16(payload[payload.startIndex]) << 8 | UInt16(payload[payload.startIndex + 1]))
        guard code.mayBeSent else { throw .protocolError("expected a valid close code, found \(code.rawValue)") }
        let text = payload.dropFirst(2)
        // `String(data:encoding:)` would drop a byte-order mark.
        let reason = String(decoding: text, as: UTF8.self)
        guard reason.utf8.elementsEqual(text) else {
            throw WebSocketFault(.invalidData, "the reason in a close frame is not UTF-8")
        }
        self.init(code, reason: reason)
    }

    /// The payload of a close frame. It is empty if the code must not be sent.
    package var payload: Data {
        guard code.mayBeSent else { return Data() }
        return Data([UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)]) + Data(reason.utf8)
    }
}

extension Collection where Element == UInt8 {
    /// Calls a closure, which may throw a typed error, with the bytes.
    fileprivate func withBytes<Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        let result: Result<Void, Failure>? = withContiguousStorageIfAvailable { bytes in
            Result { () throws(Failure) in try body(UnsafeRawBufferPointer(bytes)) }
        }
        try result?.get()
    }
}
