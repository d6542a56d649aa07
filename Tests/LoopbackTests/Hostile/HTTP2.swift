import Foundation

/// Writes valid and invalid HTTP/2 frames (RFC 9113), and finds the requests in the frames of a client.
enum HTTP2 {
    static let preface = Data("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    enum Kind: UInt8 {
        case data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate, continuation
        case unknown = 0xBB
    }

    struct Flags: OptionSet {
        let rawValue: UInt8

        static let endStream = Flags(rawValue: 0x1)
        static let acknowledgement = Flags(rawValue: 0x1)
        static let endHeaders = Flags(rawValue: 0x4)
        static let padded = Flags(rawValue: 0x8)
        static let priority = Flags(rawValue: 0x20)
        static let complete: Flags = [.endHeaders, .endStream]
    }

    /// The error codes of RFC 9113 section 7, and one unknown code.
    static let errorCodes: [(name: String, code: UInt32)] = [
        ("NO_ERROR", 0x0), ("PROTOCOL_ERROR", 0x1), ("INTERNAL_ERROR", 0x2), ("FLOW_CONTROL_ERROR", 0x3),
        ("SETTINGS_TIMEOUT", 0x4), ("STREAM_CLOSED", 0x5), ("FRAME_SIZE_ERROR", 0x6), ("REFUSED_STREAM", 0x7),
        ("CANCEL", 0x8), ("COMPRESSION_ERROR", 0x9), ("CONNECT_ERROR", 0xA), ("ENHANCE_YOUR_CALM", 0xB),
        ("INADEQUATE_SECURITY", 0xC), ("HTTP_1_1_REQUIRED", 0xD), ("an unknown code", 0xBEEF),
    ]

    /// - Parameter length: The value of the frame's length field; by default the length of the payload.
    static func frame(
        _ kind: Kind, _ flags: Flags = [], on stream: UInt32 = 1, _ payload: Data = Data(), length: Int? = nil
    ) -> Data {
        let length = UInt32(length ?? payload.count)
        return bytes(length).dropFirst() + Data([kind.rawValue, flags.rawValue]) + bytes(stream) + payload
    }

    static func frame(_ kind: Kind, on stream: UInt32 = 1, _ payload: Data) -> Data {
        frame(kind, [], on: stream, payload)
    }

    static func settings(_ values: (identifier: UInt16, value: UInt32)...) -> Data {
        frame(.settings, on: 0, settingsPayload(values))
    }

    static func settingsPayload(_ values: [(identifier: UInt16, value: UInt32)]) -> Data {
        values.reduce(into: Data()) { $0 += bytes(UInt32($1.identifier)).suffix(2) + bytes($1.value) }
    }

    /// Returns a HEADERS frame. By default it contains the whole head and does not end the stream.
    static func headers(
        _ fields: [(String, String)] = [(":status", "200")], _ flags: Flags = .endHeaders, on stream: UInt32 = 1
    ) -> Data {
        frame(.headers, flags, on: stream, block(fields))
    }

    static func data(_ text: String = "hello", _ flags: Flags = .endStream, on stream: UInt32 = 1) -> Data {
        frame(.data, flags, on: stream, Data(text.utf8))
    }

    static func reset(_ code: UInt32, on stream: UInt32 = 1) -> Data { frame(.reset, on: stream, bytes(code)) }

    static func goAway(last: UInt32, _ code: UInt32 = 0) -> Data {
        frame(.goAway, on: 0, bytes(last) + bytes(code))
    }

    /// Returns a complete response.
    static func hello(on stream: UInt32 = 1) -> Data { headers(on: stream) + data(on: stream) }

    /// Encodes fields with HPACK. Each field is a literal without indexing and without Huffman coding (RFC 7541 section
    /// 6.2.2).
    static func block(_ fields: [(String, String)]) -> Data {
        fields.reduce(into: Data()) { $0 += [0] + text($1.0) + text($1.1) }
    }

    static func bytes(_ value: UInt32) -> Data { withUnsafeBytes(of: value.bigEndian) { Data($0) } }

    private static func text(_ text: String) -> Data {
        let bytes = Data(text.utf8)
        guard bytes.count >= 0x7F else { return Data([UInt8(bytes.count)]) + bytes }
        var length = Data([0x7F])
        var rest = bytes.count - 0x7F
        while rest >= 0x80 {
            length.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }
}

extension RawServer.Connection {
    /// Reads frames up to the next HEADERS frame, and returns its stream; nil if the client has closed the connection.
    func readHeaders() -> UInt32? {
        while case let head = [UInt8](read(9)), head.count == 9 {
            let length = head[..<3].reduce(0) { $0 << 8 | Int($1) }
            guard read(length).count == length else { return nil }
            if head[3] == HTTP2.Kind.headers.rawValue { return head[5...].reduce(0) { $0 << 8 | UInt32($1) } }
        }
        return nil
    }
}
