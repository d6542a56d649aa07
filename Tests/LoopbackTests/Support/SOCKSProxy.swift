#if os(Linux)
    import Foundation
    import Testing

    /// A SOCKS proxy, versions 4, 4a and 5 (RFC 1928 and RFC 1929), to which every name means this machine.
    final class SOCKSProxy: Sendable {
        /// What the proxy does instead of connecting.
        enum Refusal: Sendable {
            /// Replies with a code.
            case reply(UInt8)
            /// Refuses the user or the password.
            case password
            /// Accepts none of the client's methods of authentication.
            case methods
            /// Writes bytes that are not SOCKS.
            case garbage
            case close
            case silence
        }

        private let server: RawServer
        private let seen: Box<[String]>

        init(_ refusal: Refusal? = nil) throws {
            let seen = Box([String]())
            server = try RawServer { connection in
                guard let target = SOCKSProxy.accept(connection, refusal) else { return }
                seen.change { $0.append("\(target.host):\(target.port)") }
                connection.write(target.reply)
                Tunnel.relay(connection.socket, to: target.port)
            }
            self.seen = seen
        }

        /// The targets that clients asked for.
        var targets: [String] { seen.value }

        func url(_ scheme: String, user: String = "") throws -> URL {
            let port = try #require(server.url.port)
            return try #require(URL(string: "\(scheme)://\(user)127.0.0.1:\(port)"))
        }

        private struct Target {
            var host: String
            var port: Int
            var reply: [UInt8]
        }

        /// Returns the target that the client asks for, or nil if the connection ends.
        private static func accept(_ connection: RawServer.Connection, _ refusal: Refusal?) -> Target? {
            switch refusal {
            case .close: return nil
            case .silence:
                _ = connection.read(1 << 10)  // until the client closes the connection
                return nil
            case .garbage:
                connection.write(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
                _ = connection.read(1 << 10)
                return nil
            default: return connection.read(1).first == 4 ? four(connection, refusal) : five(connection, refusal)
            }
        }

        private static func four(_ connection: RawServer.Connection, _ refusal: Refusal?) -> Target? {
            let head = [UInt8](connection.read(7))
            guard head.count == 7 else { return nil }
            _ = text(connection)  // the user
            let isName = head[3...5] == [0, 0, 0]
            let host = isName ? text(connection) : head[3...6].map(String.init).joined(separator: ".")
            if case .reply(let code) = refusal {
                connection.write([0, code, 0, 0, 0, 0, 0, 0])
                return nil
            }
            return Target(
                host: host, port: Int(head[1]) << 8 | Int(head[2]), reply: [0, 90, 0, 0, 0, 0, 0, 0])
        }

        private static func five(_ connection: RawServer.Connection, _ refusal: Refusal?) -> Target? {
            guard let count = connection.read(1).first else { return nil }
            let methods = connection.read(Int(count))
            if case .methods = refusal {
                connection.write([5, 0xFF])
                return nil
            }
            let hasPassword = methods.contains(2)
            connection.write([5, hasPassword ? 2 : 0])
            if hasPassword {
                guard connection.read(1).first == 1, let user = connection.read(1).first else { return nil }
                _ = connection.read(Int(user))
                _ = connection.read(Int(connection.read(1).first ?? 0))
                if case .password = refusal {
                    connection.write([1, 1])
                    return nil
                }
                connection.write([1, 0])
            }
            guard case let head = [UInt8](connection.read(4)), head.count == 4 else { return nil }
            let host =
                switch head[3] {
                case 1: connection.read(4).map(String.init).joined(separator: ".")
                case 3: String(decoding: connection.read(Int(connection.read(1).first ?? 0)), as: UTF8.self)
                default: connection.read(16).map { String($0, radix: 16) }.joined(separator: ".")
                }
            let port = connection.read(2).reduce(0) { $0 << 8 | Int($1) }
            if case .reply(let code) = refusal {
                connection.write([5, code, 0, 1, 0, 0, 0, 0, 0, 0])
                return nil
            }
            return Target(host: host, port: port, reply: [5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        }

        /// Reads a text that ends with a zero.
        private static func text(_ connection: RawServer.Connection) -> String {
            var bytes: [UInt8] = []
            while let byte = connection.read(1).first, byte != 0 { bytes.append(byte) }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
#endif
