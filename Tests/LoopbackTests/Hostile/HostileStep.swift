import Foundation

#if os(Linux)
    import Glibc
#else
    import Darwin
#endif

/// One thing that a hostile server does on a connection. The connection is closed after the last one.
enum HostileStep: Sendable {
    /// Reads a request's head.
    case readHead
    /// Reads so many bytes of a request's body.
    case readBody(Int)
    /// Reads a client's HTTP/2 preface.
    case readPreface
    /// Reads HTTP/2 frames to the next HEADERS frame, with it.
    case readHeaders
    case bytes(Data)
    /// Writes byte by byte, with a pause before each.
    case drip(Data, milliseconds: Int)
    /// Writes the same bytes again and again, until so many have been written or the client has closed.
    case flood(Data, upTo: Int)
    case pause(milliseconds: Int)
    /// Ends its side of the connection.
    case closeWriting
    /// Reads and discards until the client closes, at most 3 s.
    case drain
    /// Reads nothing until the client closes, at most 3 s.
    case ignore
    /// Has the connection end with a reset instead of an orderly close.
    case reset

    static func text(_ text: String) -> HostileStep { .bytes(Data(text.utf8)) }
}

extension [HostileStep] {
    /// What the server does after its last byte.
    enum End: Sendable {
        /// Leaves the connection open.
        case hold
        case close
        case reset

        /// The same after frames of HTTP/2. A close discards what the client still sends: unread bytes would make it a
        /// reset. A reset waits until the client has read what came before.
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

    /// Reads a request and writes these bytes.
    static func reply(_ bytes: Data, then end: End = .hold) -> Self { [.readHead, .bytes(bytes)] + end.steps }

    static func reply(_ text: String, then end: End = .hold) -> Self { reply(Data(text.utf8), then: end) }

    /// Replies with this status line, the right length, and `hello`.
    static func status(_ line: String, then end: End = .hold) -> Self {
        reply("\(line)\r\nContent-Length: 5\r\n\r\nhello", then: end)
    }

    /// Replies with status 200, these fields, and a body that has exactly these bytes.
    static func ok(_ fields: String..., body: String = "hello", then end: End = .hold) -> Self {
        reply(Data.head(fields) + Data(body.utf8), then: end)
    }

    /// Serves two requests of one connection; the second one's response is `second`.
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
    /// The head of a response with status 200.
    static func head(_ fields: [String]) -> Data {
        Data((["HTTP/1.1 200 OK"] + fields + ["", ""]).joined(separator: "\r\n").utf8)
    }
}

extension RawServer.Connection {
    /// Carries steps out, in order, until one of them finds that the client has gone.
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
            // 0x2000 is Linux's POLLRDHUP, which Swift does not import: the peer has ended its side.
            var descriptor = pollfd(fd: socket, events: 0x2000, revents: 0)
            _ = poll(&descriptor, 1, 3_000)
        case .reset:
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        }
        return true
    }

    /// Writes everything; false if the client has gone, or reads nothing for 3 s.
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
