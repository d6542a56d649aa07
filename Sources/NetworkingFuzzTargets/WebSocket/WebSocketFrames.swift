import Foundation
import Networking

extension FuzzTarget {
    /// A byte of options and the frames of a server. The options are whether compression has been agreed on (bit 0),
    /// the message limit (bit 4), and the size of the pieces in which the frames arrive (bits 5 to 7). The result does
    /// not depend on the size of the pieces. Without compression, the result is as RFC 6455 requires. Each event can be
    /// written and read again.
    static let webSocketFrames = FuzzTarget("websocket-frames", checkFrames)

    private static func checkFrames(_ input: FuzzInput) throws {
        let options = input.bytes.first ?? 0
        let bytes = Array(input.bytes.dropFirst())
        let compresses = options & 1 != 0 && WebSocketInflater.isAvailable
        let limit = options & 0x10 == 0 ? 16 << 20 : 100
        let whole = Reading(bytes, inPiecesOf: max(bytes.count, 1), limit: limit, compresses: compresses)
        let pieces = Reading(bytes, inPiecesOf: 1 + Int(options >> 5), limit: limit, compresses: compresses)
        try require(pieces.events, equals: whole.events, "the events, read in pieces")
        // If a compressed message is both damaged and too large, either fault may be found first.
        try require((pieces.code == nil), equals: whole.code == nil, "whether there is a fault, read in pieces")
        if !compresses { try require(pieces.code, equals: whole.code, "the code of the fault, read in pieces") }
        try require([nil, 1002, 1007, 1008, 1009].contains(whole.code), "the code of the fault")
        let isOneLine = whole.reason.utf8.count < 300 && whole.reason.utf8.allSatisfy { $0 >= 0x20 }
        try require(isOneLine, "the reason of the fault has several lines")
        for event in whole.events { try check(event, limit) }
        guard !compresses else { return }
        let expected = PlainFrames(bytes, limit: limit)
        try require(whole.events, equals: expected.events, "the events")
        // Text that is not UTF-8 may be reported before the whole message has arrived.
        let isEarly = expected.isCutOff && expected.fault == nil && whole.code == 1007
        if !isEarly { try require(whole.code, equals: expected.fault, "the code of the fault") }
    }

    private static func check(_ event: WebSocketDecoder.Event, _ limit: Int) throws {
        if case .message(let message) = event {
            try require(message.data.count <= limit, "a message has \(message.data.count) bytes")
        }
        guard let frame = event.written else { return }
        let again = Reading(frame, inPiecesOf: frame.count, limit: limit)
        try require(again.events, equals: [event], "the event, written and read")
    }

    /// The events and the fault that a decoder finds.
    private struct Reading {
        var events: [WebSocketDecoder.Event] = []
        /// The code of the fault; nil if there was none.
        var code: UInt16?
        var reason = ""

        init(_ bytes: [UInt8], inPiecesOf size: Int, limit: Int, compresses: Bool = false) {
            var decoder = WebSocketDecoder(
                expectsMask: false, messageLimit: limit,
                inflater: compresses ? WebSocketInflater(keepsContext: true) : nil)
            var start = 0
            while start < bytes.count, code == nil {
                let end = min(start + size, bytes.count)
                Array(bytes[start..<end]).withUnsafeBytes { read($0, &decoder) }
                start = end
            }
        }

        private mutating func read(_ bytes: UnsafeRawBufferPointer, _ decoder: inout WebSocketDecoder) {
            var rest = bytes
            do throws(WebSocketFault) {
                while let event = try decoder.next(&rest) { events.append(event) }
            } catch {
                (code, reason) = (error.code.rawValue, error.reason)
            }
        }
    }
}

extension WebSocketDecoder.Event {
    /// The event as an unmasked frame; nil if it is too large for this check.
    fileprivate var written: [UInt8]? {
        let (opcode, payload): (WebSocketFrame.Opcode, Data) =
            switch self {
            case .message(.text(let text)): (.text, Data(text.utf8))
            case .message(.binary(let data)): (.binary, data)
            case .ping(let data): (.ping, data)
            case .pong(let data): (.pong, data)
            case .close(let close): (.close, close.payload)
            }
        guard payload.count < 100_000 else { return nil }
        var head = [UInt8](repeating: 0, count: WebSocketFrame.largestHead)
        let count = head.withUnsafeMutableBytes { WebSocketFrame(opcode, length: payload.count).write(into: $0) }
        return Array(head.prefix(count)) + Array(payload)
    }
}
