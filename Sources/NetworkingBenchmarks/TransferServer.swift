#if os(Linux)
    import Foundation

    /// The server of the transfer benchmarks. It runs in a process of its own, with one thread for each connection,
    /// and ends when its standard input ends.
    ///
    /// `GET /N` returns N bytes. `/tus` creates an upload of tus 1.0. For any other `POST`, the server reads the whole
    /// body and returns the time at which the first byte arrived, in nanoseconds of the monotonic clock.
    enum TransferServer {
        private static let piece = [UInt8](repeating: 7, count: 1 << 20)

        static func run() throws {
            signal(SIGPIPE, SIG_IGN)
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(listener, address, length) == 0 && listen(listener, 4_096) == 0
                        && getsockname(listener, address, &length) == 0
                }
            }
            guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
            print(UInt16(bigEndian: address.sin_port))
            fflush(nil)
            Thread.detachNewThread {
                while case let client = accept(listener, nil, nil), client >= 0 {
                    Thread.detachNewThread {
                        serve(client)
                        close(client)
                    }
                }
            }
            _ = FileHandle.standardInput.readDataToEndOfFile()
        }

        private static func serve(_ client: Int32) {
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            while true {
                guard let (head, extra) = readHead(client, &buffer) else { return }
                if head.hasPrefix("GET /"), let count = Int(head.dropFirst(5).prefix { $0 != " " }) {
                    send(count, to: client)
                } else {
                    let length = field("content-length", in: head).flatMap(Int.init) ?? 0
                    var first = extra.isEmpty ? nil : now
                    var left = length - extra.count
                    while left > 0 {
                        let count = recv(client, &buffer, min(buffer.count, left), 0)
                        guard count > 0 else { return }
                        first = first ?? now
                        left -= count
                    }
                    write(answer(to: head, length, first), to: client)
                }
            }
        }

        /// Returns the response to a request whose body has been read.
        private static func answer(to head: String, _ length: Int, _ first: UInt64?) -> String {
            let tus = "Tus-Resumable: 1.0.0\r\nTus-Version: 1.0.0\r\n"
            switch head.prefix(while: { $0 != "\r" }).split(separator: " ").prefix(2).joined(separator: " ") {
            case "OPTIONS /tus": return "HTTP/1.1 204 No Content\r\n\(tus)\r\n"
            case "POST /tus" where field("upload-length", in: head) != nil:
                return "HTTP/1.1 201 Created\r\n\(tus)Location: /tus/1\r\nContent-Length: 0\r\n\r\n"
            case "PATCH /tus/1": return "HTTP/1.1 204 No Content\r\n\(tus)Upload-Offset: \(length)\r\n\r\n"
            default: return "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n\(padded(first ?? 0))"
            }
        }

        private static func readHead(
            _ client: Int32, _ buffer: inout [UInt8]
        ) -> (head: String, extra: [UInt8])? {
            var head: [UInt8] = []
            while true {
                if let end = head.indices.first(where: { head[$0...].starts(with: [13, 10, 13, 10]) }) {
                    return (String(decoding: head[..<end], as: UTF8.self), Array(head[(end + 4)...]))
                }
                let count = recv(client, &buffer, 16_384, 0)
                guard count > 0 else { return nil }
                head += buffer[..<count]
            }
        }

        private static func field(_ name: String, in head: String) -> String? {
            head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name + ":") }
                .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }

        private static func send(_ count: Int, to client: Int32) {
            write(
                "HTTP/1.1 200 OK\r\nETag: \"one\"\r\nAccept-Ranges: bytes\r\nContent-Length: \(count)\r\n\r\n",
                to: client)
            var left = count
            while left > 0 {
                let sent = Glibc.send(client, piece, min(piece.count, left), Int32(MSG_NOSIGNAL))
                guard sent > 0 else { return }
                left -= sent
            }
        }

        private static func write(_ text: String, to client: Int32) {
            let bytes = Array(text.utf8)
            _ = Glibc.send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }

        private static func padded(_ number: UInt64) -> String {
            let digits = String(number)
            return String(repeating: "0", count: 20 - digits.count) + digits
        }

        /// The time of the monotonic clock, which all processes share, in nanoseconds.
        static var now: UInt64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }
    }
#endif
