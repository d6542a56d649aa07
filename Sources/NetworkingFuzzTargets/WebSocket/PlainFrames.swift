import Foundation
import Networking

/// The uncompressed frames of a server, read as RFC 6455 section 5 describes them. This reader is independent of the
/// library's decoder, so that it finds faults in the decoder.
struct PlainFrames {
    private(set) var events: [WebSocketDecoder.Event] = []
    /// The code with which the client closes the connection; nil if the frames are valid.
    private(set) var fault: UInt16?
    /// Whether the bytes end inside of a frame or a message.
    private(set) var isCutOff = false

    private var rest: ArraySlice<UInt8>
    private let limit: Int
    private var message: (isText: Bool, bytes: [UInt8])?
    /// The first bytes of a character that continues in the next frame of a text.
    private var begun: [UInt8] = []

    init(_ bytes: [UInt8], limit: Int) {
        (rest, self.limit) = (bytes[...], limit)
        while fault == nil, !rest.isEmpty {
            guard let isOver = readFrame() else {
                isCutOff = true
                return
            }
            if isOver { return }
        }
        isCutOff = message != nil
    }

    /// Reads a frame.
    ///
    /// - Returns: Whether no frame follows; nil if the frame is not complete.
    private mutating func readFrame() -> Bool? {
        guard rest.count >= 2 else { return nil }
        let (first, second) = (rest[rest.startIndex], rest[rest.startIndex + 1])
        let (isFinal, opcode, short) = (first >= 0x80, first & 0x0F, Int(second & 0x7F))
        let isControl = opcode >= 8
        let isKnown = [0, 1, 2, 8, 9, 10].contains(opcode)
        let isInOrder = isControl || (opcode == 0) == (message != nil)
        guard first & 0x70 == 0, second < 0x80, isKnown, isInOrder, !isControl || isFinal && short < 126 else {
            return end(1002)
        }
        let extra = short == 126 ? 2 : short == 127 ? 8 : 0
        guard rest.count >= 2 + extra else { return nil }
        let digits = rest.dropFirst(2).prefix(extra)
        let long = digits.reduce(UInt64(0)) { $0 * 256 + UInt64($1) }
        let smallest: UInt64 = extra == 8 ? 65_536 : 126
        guard extra == 0 || (smallest...UInt64(Int64.max)).contains(long) else { return end(1002) }
        let length = extra == 0 ? UInt64(short) : long
        guard isControl || length <= UInt64(limit - (message?.bytes.count ?? 0)) else { return end(1009) }
        if !isControl, opcode != 0 { (message, begun) = ((opcode == 1, []), []) }
        guard UInt64(rest.count - 2 - extra) >= length else { return nil }
        let payload = Array(rest.dropFirst(2 + extra).prefix(Int(length)))
        rest = rest.dropFirst(2 + extra + Int(length))
        switch opcode {
        case 8: return close(payload)
        case 9: events.append(.ping(Data(payload)))
        case 10: events.append(.pong(Data(payload)))
        default:
            message?.bytes += payload
            if message?.isText == true, !readText(payload) { return end(1007) }
            if isFinal { return endMessage() }
        }
        return false
    }

    /// Returns whether the text of a message is valid so far.
    private mutating func readText(_ payload: [UInt8]) -> Bool {
        let bytes = begun + payload
        for count in 0...min(3, bytes.count) {
            let end = bytes.suffix(count)
            guard count == 0 || PlainFrames.beginsCharacter(Array(end)),
                PlainFrames.text(bytes.dropLast(count)) != nil
            else { continue }
            begun = Array(end)
            return true
        }
        return false
    }

    /// Returns bytes as text; nil if they are not UTF-8.
    private static func text(_ bytes: some Collection<UInt8>) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.elementsEqual(bytes) ? text : nil
    }

    /// Whether these bytes can be the beginning of a longer UTF-8 character.
    private static func beginsCharacter(_ bytes: [UInt8]) -> Bool {
        let ends: [[UInt8]] = [[0x80], [0x90], [0xA0], [0xBF]]
        let longer = ends + ends.flatMap { [$0 + [0x80], $0 + [0x80, 0x80]] }
        return longer.contains { PlainFrames.text(bytes + $0)?.unicodeScalars.count == 1 }
    }

    private mutating func endMessage() -> Bool {
        guard let ended = message else { return false }
        message = nil
        guard ended.isText else {
            events.append(.message(.binary(Data(ended.bytes))))
            return false
        }
        guard let text = PlainFrames.text(ended.bytes) else { return end(1007) }
        guard !PlainFrames.hasManyMarks(text) else { return end(1008) }
        events.append(.message(.text(text)))
        return false
    }

    /// Whether a text has more than 256 combining marks in a row. Backslashes between them do not count.
    private static func hasManyMarks(_ text: String) -> Bool {
        let scalars = text.unicodeScalars.filter { $0 != "\\" }
        return scalars.split { $0.properties.canonicalCombiningClass == .notReordered }.contains { $0.count > 256 }
    }

    private mutating func close(_ payload: [UInt8]) -> Bool {
        guard !payload.isEmpty else {
            events.append(.close(WebSocketClose(.none)))
            return true
        }
        guard payload.count > 1 else { return end(1002) }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        let isAllowed =
            (1000...1014).contains(code) && ![1004, 1005, 1006].contains(code) || (3000...4999).contains(code)
        guard isAllowed else { return end(1002) }
        guard let reason = PlainFrames.text(payload.dropFirst(2)) else { return end(1007) }
        events.append(.close(WebSocketClose(.init(rawValue: code), reason: reason)))
        return true
    }

    private mutating func end(_ code: UInt16) -> Bool {
        fault = code
        return true
    }
}
