#if os(Linux)
    import Foundation
    import Testing

    /// A TCP proxy in front of a server. It can drop connections as a router does: it discards their bytes, and neither
    /// closes nor resets them.
    final class Tunnel: Sendable {
        /// The URL of the server through the tunnel.
        let url: URL
        private let server: RawServer
        private let counts: Box<Counts>

        private struct Counts {
            var accepted = 0
            var silenced = 0
        }

        init(to target: URL) throws {
            let counts = Box(Counts())
            let port = try #require(target.port)
            server = try RawServer { connection in
                counts.change { $0.accepted += 1 }
                Tunnel.relay(connection.socket, to: port) { connection.number < counts.value.silenced }
            }
            self.counts = counts
            var components = try #require(URLComponents(url: target, resolvingAgainstBaseURL: false))
            components.port = server.url.port
            url = try #require(components.url)
        }

        /// The number of connections that were accepted.
        var acceptedConnections: Int { counts.value.accepted }

        /// Loses all further bytes of the connections that exist.
        func silence() { counts.change { $0.silenced = $0.accepted } }

        /// Connects to a port, and relays bytes in both directions until both sides have ended.
        static func relay(_ socket: Int32, to port: Int, unless isSilent: @escaping @Sendable () -> Bool = { false }) {
            guard let upstream = connect(to: port) else { return }
            let back = Thread { pump(from: upstream, to: socket, unless: isSilent) }
            back.start()
            pump(from: socket, to: upstream, unless: isSilent)
            while !back.isFinished { usleep(1_000) }
            close(upstream)
        }

        private static func pump(from source: Int32, to target: Int32, unless isSilent: () -> Bool) {
            var bytes = [UInt8](repeating: 0, count: 16_384)
            while case let count = recv(source, &bytes, bytes.count, 0), count > 0 {
                var sent = 0
                while sent < count, !isSilent() {
                    let more = bytes.withUnsafeBytes {
                        send(target, $0.baseAddress.map { $0 + sent }, count - sent, RawServer.sendFlags)
                    }
                    guard more > 0 else { return }
                    sent += more
                }
            }
            // A silent connection does not tell that the other side has ended.
            if !isSilent() { shutdown(target, Int32(SHUT_WR)) }
        }

        private static func connect(to port: Int) -> Int32? {
            let opened = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            let result = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(opened, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard result == 0 else {
                close(opened)
                return nil
            }
            return opened
        }
    }
#endif
