#if os(Linux)
    import CLibcurl
    import Foundation

    /// The server of the benchmarks. It runs in a process of its own, with one thread on epoll and prepared responses,
    /// and ends when its standard input ends.
    ///
    /// `/json` returns 1 KiB of JSON, also to a POST. `/items/N` requires a bearer token. `POST /refresh` issues a token
    /// after 50 ms. The arguments set the lifetime of the token. `/hang` never responds. `/counts` returns the counts of
    /// requests and connections.
    final class BenchmarkServer {
        private struct Delayed {
            let due: Double
            let socket: Int32
            let answer: [UInt8]
        }

        private let epoll = clibcurl_epoll_create()
        private let listener: Int32
        private var buffers: [Int32: [UInt8]] = [:]
        private var delayed: [Delayed] = []
        private var tokens: TokenBook
        private let latency: Double

        /// - Parameter arguments: The latency of an item and the lifetime of a token, in milliseconds. A lifetime
        ///   of 0 is unlimited.
        init(_ arguments: [String]) throws {
            latency = (arguments.first.flatMap(Double.init) ?? 0) / 1_000
            tokens = TokenBook(lifetime: (arguments.dropFirst().first.flatMap(Double.init) ?? 0) / 1_000)
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let listener = listener
            let port: UInt16? = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(listener, address, length) == 0 && listen(listener, 8_192) == 0
                        && getsockname(listener, address, &length) == 0
                }
                    ? UInt16(bigEndian: pointer.pointee.sin_port) : nil
            }
            guard let port else { throw POSIXError(.EADDRNOTAVAIL) }
            print(port)
            fflush(nil)
        }

        func run() {
            signal(SIGPIPE, SIG_IGN)
            watch(listener)
            watch(0)
            var ready = [clibcurl_event](repeating: clibcurl_event(), count: 256)
            while true {
                let count = clibcurl_epoll_wait(epoll, &ready, 256, sendDue())
                for event in ready[..<Int(count)] {
                    if event.socket == 0 { return }
                    if event.socket == listener { acceptAll() } else { serve(event.socket) }
                }
            }
        }

        private func watch(_ socket: Int32) {
            clibcurl_epoll_set(epoll, socket, Int32(CCURL_POLL_IN))
        }

        private func acceptAll() {
            while true {
                let socket = accept(listener, nil, nil)
                guard socket >= 0 else { return }
                _ = fcntl(socket, F_SETFL, O_NONBLOCK)
                var one: Int32 = 1
                setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
                buffers[socket] = []
                tokens.connections += 1
                watch(socket)
            }
        }

        private func serve(_ socket: Int32) {
            var chunk = [UInt8](repeating: 0, count: 8_192)
            let count = recv(socket, &chunk, 8_192, 0)
            guard count > 0 else {
                buffers[socket] = nil
                close(socket)
                return
            }
            var buffer = buffers[socket] ?? []
            buffer += chunk[..<count]
            while let end = BenchmarkServer.endOfHead(buffer) {
                let head = String(decoding: buffer[..<end], as: UTF8.self)
                let body = BenchmarkServer.lengthOfBody(head)
                guard buffer.count >= end + body else { break }
                answer(head, on: socket)
                buffer.removeSubrange(..<(end + body))
            }
            buffers[socket] = buffer
        }

        private static func endOfHead(_ bytes: [UInt8]) -> Int? {
            guard bytes.count >= 4 else { return nil }
            return (4...bytes.count).first { end in
                bytes[end - 1] == 10 && bytes[end - 2] == 13 && bytes[end - 3] == 10 && bytes[end - 4] == 13
            }
        }

        private static func lengthOfBody(_ head: String) -> Int {
            guard head.hasPrefix("POST "), let field = head.range(of: "Content-Length: ") else { return 0 }
            return Int(head[field.upperBound...].prefix { $0.isNumber }) ?? 0
        }

        private func answer(_ head: String, on socket: Int32) {
            if head.hasPrefix("GET /json") || head.hasPrefix("POST /json") {
                write(BenchmarkServer.json, to: socket)
            } else if head.hasPrefix("GET /items/") {
                let answer =
                    tokens.accepts(head) ? BenchmarkServer.message("200 OK", "{\"id\":\"1\"}") : BenchmarkServer.refusal
                later(latency, answer, socket)
            } else if head.hasPrefix("POST /refresh") {
                later(0.05, [], socket)
            } else if head.hasPrefix("GET /counts") {
                write(BenchmarkServer.message("200 OK", tokens.json), to: socket)
            } else if !head.hasPrefix("GET /hang") {
                write(BenchmarkServer.message("404 Not Found", "{}"), to: socket)
            }
        }

        private func later(_ delay: Double, _ answer: [UInt8], _ socket: Int32) {
            if delay == 0 { return write(answer, to: socket) }
            delayed.append(Delayed(due: BenchmarkServer.now + delay, socket: socket, answer: answer))
        }

        /// Sends the responses that are due. Returns the milliseconds until the next response, or -1 if no response is
        /// pending.
        private func sendDue() -> Int32 {
            guard !delayed.isEmpty else { return -1 }
            let now = BenchmarkServer.now
            let due = delayed.filter { $0.due <= now }
            delayed.removeAll { $0.due <= now }
            for one in due {
                let isRefresh = one.answer.isEmpty
                write(isRefresh ? BenchmarkServer.message("200 OK", tokens.issue()) : one.answer, to: one.socket)
            }
            guard let next = delayed.map(\.due).min() else { return -1 }
            return Int32(max(0, (next - now) * 1_000)) + 1
        }

        private func write(_ bytes: [UInt8], to socket: Int32) {
            _ = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }

        static var now: Double {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
        }

        private static func message(_ status: String, _ body: String, _ field: String = "") -> [UInt8] {
            Array(
                """
                HTTP/1.1 \(status)\r\nDate: Sat, 21 Nov 2026 12:00:00 GMT\r\nContent-Type: application/json\r\n\(field)\
                Content-Length: \(body.utf8.count)\r\n\r\n\(body)
                """.utf8)
        }

        private static let refusal = message(
            "401 Unauthorized", "{}", "WWW-Authenticate: Bearer error=\"invalid_token\"\r\n")

        private static let json = message("200 OK", Contact.sample)
    }

    /// The valid token and the counts of its use.
    private struct TokenBook {
        private let lifetime: Double
        private var number = 0
        private var issued = 0.0
        private var isExpiryNoted = true
        private var served = 0
        private var refused = 0
        private var expiries = 0
        var connections = 0

        init(lifetime: Double) {
            self.lifetime = lifetime
        }

        mutating func issue() -> String {
            number += 1
            issued = BenchmarkServer.now
            isExpiryNoted = false
            return "{\"token\":\"token-\(number)\"}"
        }

        mutating func accepts(_ head: String) -> Bool {
            guard number > 0, head.contains("Bearer token-\(number)\r\n") else {
                refused += 1
                return false
            }
            if lifetime > 0, BenchmarkServer.now - issued > lifetime {
                if !isExpiryNoted { expiries += 1 }
                isExpiryNoted = true
                refused += 1
                return false
            }
            served += 1
            return true
        }

        var json: String {
            "{\"served\":\(served),\"refused\":\(refused),\"refreshes\":\(number),"
                + "\"expiries\":\(expiries),\"connections\":\(connections)}"
        }
    }
#endif
