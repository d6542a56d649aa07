import Foundation

/// A step that a hostile server performs on a connection. The connection is closed after the last step.
enum HostileStep: Sendable {
    /// Reads the head of a request.
    case readHead
    /// Reads this number of bytes of a request's body.
    case readBody(Int)
    /// Reads a client's HTTP/2 preface.
    case readPreface
    /// Reads HTTP/2 frames up to and including the next HEADERS frame.
    case readHeaders
    case bytes(Data)
    /// Writes the bytes one by one, with a pause before each.
    case drip(Data, milliseconds: Int)
    /// Writes the same bytes repeatedly, up to the given total, or until the client closes the connection.
    case flood(Data, upTo: Int)
    case pause(milliseconds: Int)
    /// Closes the server's writing side of the connection.
    case closeWriting
    /// Reads and discards bytes until the client closes the connection or sends nothing for 3 s.
    case drain
    /// Reads nothing until the client closes the connection, at most 3 s.
    case ignore
    /// Makes the connection end with a reset instead of an orderly close.
    case reset

    static func text(_ text: String) -> HostileStep { .bytes(Data(text.utf8)) }
}

extension [HostileStep] {
    /// The behaviour of the server after its last byte.
    enum End: Sendable {
        /// Leaves the connection open.
        case hold
        case close
        case reset

        /// The steps after HTTP/2 frames. A close first discards the bytes that the client still sends, because unread
        /// bytes would turn the close into a reset. A reset first waits, so that the client can read the preceding
        /// bytes.
        var http2Steps: [HostileStep] {
            switch self {
            case .hold: [.drain]
            case .close: [.closeWriting, .drain]
            case .reset: [.pause(milliseconds: 20), .reset]
            }
        }

        var steps: [HostileStep] {
            switch self {
            case .hold: [.drain]
            case .close: []
            case .reset: [.reset]
            }
        }
    }

    /// Returns steps that read a request and write these bytes.
    static func reply(_ bytes: Data, then end: End = .hold) -> Self { [.readHead, .bytes(bytes)] + end.steps }

    static func reply(_ text: String, then end: End = .hold) -> Self { reply(Data(text.utf8), then: end) }

    /// Returns steps that respond with this status line, the correct length, and `hello`.
    static func status(_ line: String, then end: End = .hold) -> Self {
        reply("\(line)\r\nContent-Length: 5\r\n\r\nhello", then: end)
    }

    /// Returns steps that respond with status 200, these fields, and exactly this body.
    static func ok(_ fields: String..., body: String = "hello", then end: End = .hold) -> Self {
        reply(Data.head(fields) + Data(body.utf8), then: end)
    }

    /// Returns steps that serve two requests of one connection; the second response is `second`.
    static func twice(_ first: String, pause: Int = 0, unsolicited: String = "") -> Self {
        var steps: Self = [.readHead, .text(first)]
        if pause > 0 { steps.append(.pause(milliseconds: pause)) }
        if !unsolicited.isEmpty { steps.append(.text(unsolicited)) }
        return steps + .reply(.second)
    }
}

extension String {
    static let second = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond"
    static let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
}

extension Data {
    /// Returns the head of a response with status 200.
    static func head(_ fields: [String]) -> Data {
        Data((["HTTP/1.1 200 OK"] + fields + ["", ""]).joined(separator: "\r\n").utf8)
    }
}

extension RawServer.Connection {
    /// Runs the steps in order, until one of them fails because the client has closed the connection.
    func run(_ steps: [HostileStep]) {
        for step in steps { guard run(step) else { return } }
    }

    private func run(_ step: HostileStep) -> Bool {
        switch step {
        case .readHead: return readHead()
        case .readBody(let count): return read(count).count == count
        case .readPreface: return read(HTTP2.preface.count) == HTTP2.preface
        case .readHeaders: return readHeaders() != nil
        case .bytes(let bytes): return write(bytes)
        case .drip(let bytes, let milliseconds):
            return bytes.allSatisfy { byte in
                Thread.sleep(forTimeInterval: Double(milliseconds) / 1_000)
                return write(Data([byte]))
            }
        case .flood(let bytes, let total):
            return (0..<(total / bytes.count)).allSatisfy { _ in write(bytes) }
        case .pause(let milliseconds): Thread.sleep(forTimeInterval: Double(milliseconds) / 1_000)
        case .closeWriting: closeWriting()
        case .drain: drain()
        case .ignore:
            // 0x2000 is POLLRDHUP on Linux, which Swift does not import: the peer has closed its writing side.
            var descriptor = pollfd(fd: socket, events: 0x2000, revents: 0)
            _ = poll(&descriptor, 1, 3_000)
        case .reset:
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        }
        return true
    }

    /// Writes all bytes. Returns false if the client has closed the connection, or reads nothing for 3 s.
    func write(_ bytes: Data) -> Bool {
        var limit = timeval(tv_sec: 3, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout.size(ofValue: limit)))
        return bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = send(
                    socket, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, RawServer.sendFlags)
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    private func drain() {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while poll(&descriptor, 1, 3_000) > 0, recv(socket, &bytes, bytes.count, 0) > 0 {}
    }
}
