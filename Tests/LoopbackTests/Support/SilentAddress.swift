#if os(Linux)
    import Foundation
    import Testing

    /// A loopback address at which every attempt to connect is ignored, as a firewall does: its queue is full.
    final class SilentAddress {
        let address = "127.0.0.2"
        let port: UInt16
        private let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        private let waiting = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)

        /// - Parameter port: 0 for any port.
        init(port: UInt16) throws {
            self.port = try #require(RawServer.bindV4(listener, host: 0x7F00_0002, port: port))
            listen(listener, 0)
            var target = sockaddr_in()
            target.sin_family = sa_family_t(AF_INET)
            target.sin_port = self.port.bigEndian
            target.sin_addr.s_addr = in_addr_t(0x7F00_0002).bigEndian
            // A queue of the length 0 has room for one connection.
            let result = withUnsafePointer(to: &target) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(waiting, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(result == 0)
        }

        deinit {
            close(waiting)
            close(listener)
        }
    }
#endif
