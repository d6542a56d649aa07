import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Frames of a WebSocket", .endsInTime)
struct WebSocketDecoderTests {
    /// Returns the events of bytes that arrive in pieces, and the fault after them.
    func decode(
        _ bytes: [UInt8], piece: Int = .max, masked: Bool = false, limit: Int = 1 << 20, compresses: Bool = false
    ) -> ([WebSocketDecoder.Event], WebSocketFault?) {
        var decoder = WebSocketDecoder(
            expectsMask: masked, messageLimit: limit,
            inflater: compresses ? WebSocketInflater(keepsContext: true) : nil)
        var events: [WebSocketDecoder.Event] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(piece))
            rest = rest.dropFirst(part.count)
            do {
                try part.withUnsafeBytes { buffer in
                    var input = buffer
                    while let event = try decoder.next(&input) { events.append(event) }
                }
            } catch { return (events, error as? WebSocketFault) }
        }
        return (events, nil)
    }

    static let faultCases: [(bytes: [UInt8], code: WebSocketClose.Code, text: String)] = [
        ([0xC1, 0x00], 1002, "reserved bit 1"), ([0xA1, 0x00], 1002, "reserved bits 2 and 3"),
        ([0x91, 0x00], 1002, "reserved bits 2 and 3"), ([0x83, 0x00], 1002, "opcode"), ([0x8B, 0x00], 1002, "opcode"),
        ([0x81, 0x80], 1002, "without a mask"), ([0x09, 0x00], 1002, "fragmented"), ([0x89, 126], 1002, "125"),
        ([0x80, 0x00], 1002, "found a continuation frame"),
        ([0x01, 0x00, 0x01, 0x00], 1002, "first frame of another message"),
        ([0x82, 126, 0, 125], 1002, "shortest form"),
        ([0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 1002, "shortest form"),
        ([0x82, 127, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], 1002, "shortest form"),
        ([0x82, 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], 1009, "1048576 bytes"),
        ([0x82, 127, 0, 0, 0, 0, 0, 0x10, 0, 1], 1009, "1048576 bytes"), ([0x81, 1, 0xFF], 1007, "not UTF-8"),
        ([0x81, 1, 0xC3], 1007, "ends inside UTF-8"), ([0x01, 3, 0xED, 0xA0, 0x80], 1007, "not UTF-8"),
        ([0x88, 1, 3], 1002, "one byte"), ([0x88, 2, 0x03, 0xED], 1002, "1005"), ([0x88, 2, 0x03, 0xE7], 1002, "999"),
        ([0x88, 2, 0x0B, 0xB7], 1002, "2999"), ([0x88, 3, 0x03, 0xE8, 0xFF], 1007, "not UTF-8"),
    ]

    @Test(
        "A frame that breaks a rule is a fault with its code, however its bytes arrive", arguments: faultCases.indices)
    func faults(index: Int) {
        let (bytes, code, text) = Self.faultCases[index]
        for piece in [1, 2, 3, Int.max] {
            let (events, fault) = decode(bytes, piece: piece)
            #expect(events.isEmpty)
            #expect(fault?.code == code)
            #expect(fault?.reason.contains(text) == true, "\(fault?.reason ?? "none")")
        }
    }

    @Test("A text with more than 256 combining marks in a row is a fault, because comparing it could take hours")
    func marks() {
        func frame(_ count: Int) -> [UInt8] {
            let text = Array(("x" + String(repeating: "\u{301}", count: count)).utf8)
            return [0x81, 126, UInt8(text.count >> 8), UInt8(text.count & 0xFF)] + text
        }
        #expect(decode(frame(256)).1 == nil)
        let (events, fault) = decode(frame(257))
        #expect(events.isEmpty)
        #expect(fault?.code == .policyViolation)
        #expect(fault?.reason == "a text message has more than 256 combining marks in a row")
    }

    @Test("Messages, fragments and control frames between them are read, however their bytes arrive")
    func messages() {
        var bytes: [UInt8] = [0x01, 3, 0x67, 0x72, 0xC3]  // "gr" and half of "ü"
        bytes += [0x89, 1, 7]  // a ping
        bytes += [0x00, 2, 0xBC, 0x6E]
        bytes += [0x8A, 0]  // a pong
        bytes += [0x80, 0]
        bytes += [0x82, 126, 0, 126] + [UInt8](repeating: 9, count: 126)
        bytes += [0x88, 4, 0x03, 0xE9, 0x6F, 0x6B, 0x81, 0]  // nothing after a close frame counts
        for piece in [1, 2, 5, 64, Int.max] {
            let (events, fault) = decode(bytes, piece: piece)
            #expect(fault == nil)
            #expect(
                events == [
                    .ping(Data([7])), .pong(Data()), .message(.text("grün")),
                    .message(.binary(Data(repeating: 9, count: 126))), .close(WebSocketClose(.goingAway, reason: "ok")),
                ])
        }
    }

    @Test("The reason of a close frame keeps a byte-order mark")
    func byteOrderMark() {
        let (events, fault) = decode([0x88, 6, 0x03, 0xE8, 0xEF, 0xBB, 0xBF, 0x61])
        #expect(fault == nil)
        #expect(events == [.close(WebSocketClose(.normal, reason: "\u{FEFF}a"))])
    }

    @Test("A masked frame is unmasked from any position")
    func masks() {
        var random = SeededGenerator(seed: 3)
        for size in [0, 1, 3, 4, 7, 8, 9, 31, 125, 126, 1_000] {
            let payload = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
            let mask = UInt32.random(in: .min ... .max, using: &random)
            var head = [UInt8](repeating: 0, count: WebSocketFrame.largestHead)
            let count = head.withUnsafeMutableBytes {
                WebSocketFrame(.binary, length: size, mask: mask).write(into: $0)
            }
            let key = withUnsafeBytes(of: mask) { Array($0) }
            let masked = payload.enumerated().map { $1 ^ key[$0 % 4] }
            for piece in [1, 3, Int.max] {
                let (events, fault) = decode(Array(head[..<count]) + masked, piece: piece, masked: true)
                #expect(fault == nil)
                #expect(events == [.message(.binary(Data(payload)))])
            }
        }
        #expect(decode([0x81, 0], masked: true).1?.reason.contains("expected a masked frame") == true)
    }

    @Test("UTF-8 in pieces is accepted as Foundation accepts it whole")
    func utf8() {
        var random = SeededGenerator(seed: 5)
        let seeds: [[UInt8]] = [
            [0xC2, 0x80], [0xE0, 0xA0, 0x80], [0xE0, 0x9F, 0xBF], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80],
            [0xF0, 0x90, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80],
            [0x41, 0x42], [0xC1, 0x80], [0xF5, 0x80, 0x80, 0x80], [0x80],
        ]
        for _ in 0..<5_000 {
            var bytes = (0..<Int.random(in: 0...6, using: &random)).flatMap { _ in
                seeds[Int.random(in: 0..<seeds.count, using: &random)]
            }
            if !bytes.isEmpty, Bool.random(using: &random) { bytes.removeLast() }
            var check = UTF8Check()
            let cut = Int.random(in: 0...bytes.count, using: &random)
            let isValid = [bytes[..<cut], bytes[cut...]].allSatisfy { part in
                Array(part).withUnsafeBytes { check.take($0) }
            }
            #expect((isValid && check.isComplete) == (String(data: Data(bytes), encoding: .utf8) != nil), "\(bytes)")
        }
    }

    #if os(Linux)
        @Test("A compressed message that is larger than the limit after decompression is a fault")
        func bomb() throws {
            let deflated = try #require(WebSocketDeflater.deflate(Data(count: 4 << 20), windowBits: 15))
            let head: [UInt8] = [0xC2, 126, UInt8(deflated.count >> 8), UInt8(deflated.count & 0xFF)]
            let (events, fault) = decode(head + deflated, compresses: true)
            #expect(events.isEmpty)
            #expect(fault?.code == .messageTooBig)
            #expect(decode([0xC1, 3, 0xFF, 0xFF, 0xFF], compresses: true).1?.code == .invalidData)
        }

        @Test("Compressed messages are read as RFC 7692 shows them")
        func compressed() {
            let hello: [UInt8] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]
            let again: [UInt8] = [0xf2, 0x00, 0x11, 0x00, 0x00]  // refers to the message before
            let stored: [UInt8] = [0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00]
            let final: [UInt8] = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00]  // a block that ends the stream
            let twoBlocks: [UInt8] = [0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00]
            var bytes: [UInt8] = []
            for message in [hello, again, stored, final, again, twoBlocks] {
                bytes += [0xC1, UInt8(message.count)] + message
            }
            bytes += [0x41, 3] + hello[..<3] + [0x89, 0] + [0x80, 4] + hello[3...]  // two frames, and a ping
            for piece in [1, 7, Int.max] {
                let (events, fault) = decode(bytes, piece: piece, compresses: true)
                #expect(fault == nil, "\(fault?.reason ?? "")")
                #expect(
                    events == Array(repeating: .message(.text("Hello")), count: 6) + [
                        .ping(Data()), .message(.text("Hello")),
                    ])
            }
        }

        @Test("What is compressed with any window is decompressed again", arguments: 9...15)
        func windows(bits: Int) throws {
            var random = SeededGenerator(seed: UInt64(bits))
            let words = (0..<200).map { _ in "\(UInt32.random(in: 0...9_999, using: &random))" }
            let text = (0..<60_000).map { _ in words[Int.random(in: 0..<200, using: &random)] }.joined(separator: " ")
            let deflated = try #require(WebSocketDeflater.deflate(Data(text.utf8), windowBits: bits))
            let inflater = WebSocketInflater(keepsContext: false)
            for _ in 0..<2 {
                var inflated = Data()
                let whole = Array(deflated) + [0, 0, 0xFF, 0xFF]
                let outcome = whole.withUnsafeBytes { inflater.inflate($0, into: &inflated, limit: 1 << 20) }
                #expect(outcome == .done)
                inflater.endMessage()
                #expect(inflated == Data(text.utf8))
            }
            let noise = Data((0..<2_000).map { _ in UInt8.random(in: 0...255, using: &random) })
            #expect(WebSocketDeflater.deflate(noise, windowBits: bits) == nil)
        }
    #endif
}
