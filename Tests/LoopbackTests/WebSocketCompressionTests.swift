#if os(Linux)
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    extension Loopback {
        /// The first bytes of the frames that a server sees.
        @Suite("Compression of WebSockets, as the server sees it")
        struct WebSocketCompressionTests {
            /// Accepts a handshake, reads frames, and returns the first byte and the length of each payload.
            private func frames(
                agreeing extensions: String, _ messages: [String], compresses: Bool = true
            ) async throws -> (offer: String, frames: [(first: UInt8, length: Int)]) {
                let seen = Box<(offer: String, frames: [(first: UInt8, length: Int)])>(("", []))
                let server = try RawServer { connection in
                    guard let text = connection.head() else { return }
                    let key = text.firstMatch(of: /Sec-WebSocket-Key: (\S+)/).map { String($0.output.1) } ?? ""
                    let offer = text.firstMatch(of: /Sec-WebSocket-Extensions: ([^\r]+)/).map { String($0.output.1) }
                    seen.change { $0.offer = offer ?? "" }
                    connection.write(
                        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            + "Sec-WebSocket-Accept: \(WebSocketHandshake.accept(for: key))\r\n"
                            + (extensions.isEmpty ? "" : "Sec-WebSocket-Extensions: \(extensions)\r\n") + "\r\n")
                    for _ in messages {
                        let start = Self.read(2, connection)
                        guard start.count == 2 else { return }
                        var length = Int(start[1] & 0x7F)
                        if length == 126 { length = Self.read(2, connection).reduce(0) { $0 << 8 | Int($1) } }
                        _ = Self.read(4 + length, connection)
                        seen.change { $0.frames.append((start[0], length)) }
                    }
                    connection.write([0x88, 2, 0x03, 0xE8])
                    while !connection.read(1).isEmpty {}
                }
                let transport = try CurlTransport()
                let socket = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                    $0.transport = transport
                }.webSocket(.get(""), .init { $0.compresses = compresses }, reconnecting: .never)
                for message in messages { try await socket.send(message) }
                for try await _ in socket {}
                return seen.value
            }

            private static func read(_ count: Int, _ connection: RawServer.Connection) -> [UInt8] {
                var bytes: [UInt8] = []
                while bytes.count < count {
                    let part = connection.read(count - bytes.count)
                    guard !part.isEmpty else { break }
                    bytes += part
                }
                return bytes
            }

            private static let messages = [String(repeating: "a", count: 5_000), "short"]

            @Test("A large message has RSV1 and fewer bytes once the server agreed, a small one has neither")
            func agreed() async throws {
                for agreement in ["permessage-deflate", "permessage-deflate; client_max_window_bits=9"] {
                    let (offer, frames) = try await frames(agreeing: agreement, Self.messages)
                    #expect(offer.contains("permessage-deflate") && offer.contains("client_max_window_bits"))
                    #expect(offer.contains("client_no_context_takeover"))
                    #expect(frames.map(\.first) == [0xC1, 0x81])
                    #expect(frames.first.map { $0.length < 100 } == true && frames.last?.length == 5)
                }
            }

            @Test("Without the server's agreement, or without the option, nothing is compressed")
            func refused() async throws {
                for compresses in [true, false] {
                    let (offer, frames) = try await frames(agreeing: "", Self.messages, compresses: compresses)
                    #expect(offer.isEmpty != compresses)
                    #expect(frames.map(\.first) == [0x81, 0x81] && frames.map(\.length) == [5_000, 5])
                }
            }
        }
    }
#endif
