#if os(Linux)
    import Foundation

    /// A TCP proxy that disturbs connections, in a way that depends only on a seed. It runs in a process of its own and
    /// ends when its standard input ends.
    enum ChaosProxy {
        /// What happens to a connection.
        private enum Fate {
            /// All bytes are forwarded.
            case healthy
            /// The connection is reset at once.
            case refused
            /// The connection stays open, but after this number of bytes nothing is forwarded.
            case silent(after: Int)
            /// The connection is reset after this number of bytes.
            case reset(after: Int)
            /// Each piece is delayed by this number of milliseconds.
            case slow(UInt32)

            init(connection: UInt64, seed: UInt64) {
                // SplitMix64
                func draw(_ number: UInt64) -> UInt64 {
                    var value = (seed &+ connection &* 8 &+ number &+ 1) &* 0x9E37_79B9_7F4A_7C15
                    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
                    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
                    return value ^ value >> 31
                }
                let count = Int(draw(1) % 30_000)
                switch draw(0) % 20 {
                case 0: self = .refused
                case 1: self = .silent(after: 0)
                case 2, 3: self = .silent(after: count)
                case 4, 5: self = .reset(after: count)
                case 6: self = .slow(UInt32(draw(1) % 100))
                default: self = .healthy
                }
            }
        }

        /// - Parameter arguments: The port of the server behind the proxy, and the seed.
        static func run(_ arguments: [String]) throws {
            guard arguments.count == 2, let port = UInt16(arguments[0]), let seed = UInt64(arguments[1]) else {
                throw POSIXError(.EINVAL)
            }
            signal(SIGPIPE, SIG_IGN)
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = loopback(port: 0)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(listener, address, length) == 0 && listen(listener, 128) == 0
                        && getsockname(listener, address, &length) == 0
                }
            }
            guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
            print(UInt16(bigEndian: address.sin_port))
            fflush(nil)
            Thread.detachNewThread {
                var number: UInt64 = 0
                while case let client = accept(listener, nil, nil), client >= 0 {
                    let fate = Fate(connection: number, seed: seed)
                    number += 1
                    Thread.detachNewThread { serve(client, to: port, fate) }
                }
            }
            _ = FileHandle.standardInput.readDataToEndOfFile()
        }

        private static func loopback(port: UInt16) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return address
        }

        private static func serve(_ client: Int32, to port: UInt16, _ fate: Fate) {
            defer { close(client) }
            if case .refused = fate { return reset(client) }
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(server) }
            var address = loopback(port: port)
            let isConnected = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isConnected else { return }
            var passed = 0
            var buffer = [UInt8](repeating: 0, count: 16_384)
            var sockets = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: server, events: Int16(POLLIN), revents: 0),
            ]
            while true {
                poll(&sockets, 2, -1)
                for index in 0..<2 where sockets[index].revents != 0 {
                    let count = recv(sockets[index].fd, &buffer, buffer.count, 0)
                    if case .silent(let limit) = fate, passed >= limit {
                        guard index == 0, count > 0 else { return waitForEnd(of: client, &buffer) }
                        continue
                    }
                    guard count > 0 else { return }
                    passed += count
                    if case .reset(let limit) = fate, passed >= limit { return reset(client) }
                    if case .slow(let milliseconds) = fate { usleep(milliseconds * 1_000) }
                    var sent = 0
                    while sent < count {
                        let more = buffer.withUnsafeBytes {
                            send(sockets[1 - index].fd, $0.baseAddress.map { $0 + sent }, count - sent, 0)
                        }
                        guard more > 0 else { return }
                        sent += more
                    }
                }
            }
        }

        /// Keeps a connection open and discards its bytes, until the client closes it.
        private static func waitForEnd(of client: Int32, _ buffer: inout [UInt8]) {
            while recv(client, &buffer, buffer.count, 0) > 0 {}
        }

        private static func reset(_ socket: Int32) {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        }
    }
#endif
