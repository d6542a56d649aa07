import Foundation
import NetworkingTesting
import Testing

@testable import Networking

#if os(Linux)
    extension Loopback {
        /// Servers that break the rules of WebSockets, or of the handshake, at every byte.
        @Suite("WebSockets and hostile servers")
        struct HostileWebSocketTests {
            private let transport: CurlTransport

            init() throws { transport = try CurlTransport() }

            /// What a server does after the head of the request.
            private enum Step: Sendable {
                /// Writes bytes. `$ACCEPT` stands for the answer to the key.
                case write([UInt8])
                case text(String)
                case reset
                /// Keeps the connection open until the client closes it.
                case hold
            }

            private static let valid =
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: $ACCEPT\r\n\r\n"

            private static func serve(_ steps: [Step], _ connection: RawServer.Connection) {
                guard let head = connection.head() else { return }
                let key =
                    head
                    .firstMatch(of: /Sec-WebSocket-Key: (\S+)/).map { String($0.output.1) }
                let accept = WebSocketHandshake.accept(for: key ?? "")
                for step in steps {
                    switch step {
                    case .write(let bytes): connection.write(bytes)
                    case .text(let text): connection.write(text.replacing("$ACCEPT", with: accept))
                    case .reset: return connection.resetOnClose()
                    case .hold: while !connection.read(1).isEmpty {}
                    }
                }
            }

            static func kind(of error: (any Error)?) -> NetworkError.Kind? {
                (error as? NetworkError ?? (error as? GeneralRequestError)?.cause)?.kind
            }

            /// Returns what a socket receives, and the kind of the error with which it ends.
            private func outcome(
                _ steps: Step..., size: Int = 1_000, idle: Duration = .seconds(20)
            ) async throws -> (messages: [WebSocketMessage], kind: NetworkError.Kind?) {
                try await outcome(of: steps, size: size, idle: idle)
            }

            private func outcome(
                of steps: [Step], size: Int = 1_000, idle: Duration = .seconds(20)
            ) async throws -> (messages: [WebSocketMessage], kind: NetworkError.Kind?) {
                let server = try RawServer { Self.serve(steps, $0) }
                let service = NetworkService(
                    environment: NetworkEnvironment(baseURL: server.url)
                ) { $0.transport = transport }
                let socket = service.webSocket(
                    .get(""), .init { $0.maximumMessageSize = size }, reconnecting: .never,
                    with: RequestSettings { $0.timeouts.idle = idle })
                var messages: [WebSocketMessage] = []
                do {
                    for try await message in socket { messages.append(message) }
                    return (messages, nil)
                } catch { return (messages, Self.kind(of: error)) }
            }

            @Test(
                "A handshake that is cut off or reset after any of its bytes is a lost connection",
                arguments: [false, true])
            func cuts(resets: Bool) async throws {
                let length = Self.valid.utf8.count
                let kinds = try await withThrowingTaskGroup(of: (Int, NetworkError.Kind?).self) { group in
                    for count in 0..<length {
                        group.addTask {
                            // The text before the placeholder is written as it is, the rest as garbage of its length.
                            let bytes = Array(Self.valid.utf8.prefix(count))
                            let steps: [Step] = [.write(bytes)] + (resets ? [.reset] : [])
                            return (count, try await outcome(of: steps).kind)
                        }
                    }
                    return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
                }
                #expect(kinds.count == length)
                for (count, kind) in kinds { #expect(kind == .connectionLostBeforeHead, "after \(count) bytes") }
            }

            @Test("A frame is read although it arrives with the head, byte by byte, or is followed by an end")
            func early() async throws {
                let hello: [UInt8] = [0x81, 5] + Array("hello".utf8)
                let close: [UInt8] = [0x88, 2, 0x03, 0xE8]
                let whole = try await outcome(.text(Self.valid), .write(hello + close), .hold)
                #expect(whole.messages == [.text("hello")])
                #expect(whole.kind == nil)
                let pieces = [Step.text(Self.valid)] + (hello + close).map { .write([$0]) } + [.hold]
                #expect(try await outcome(of: pieces).messages == [.text("hello")])
                let lost = try await outcome(.text(Self.valid), .write(hello))
                #expect(lost.messages == [.text("hello")])
                #expect(lost.kind == .connectionLostAfterHead)
                let reset = try await outcome(.text(Self.valid), .write([0x81, 5, 0x68]), .reset)
                #expect(reset.kind == .connectionLostAfterHead)
            }

            @Test("Close codes that may be sent end the socket; others are a fault")
            func closeCodes() async throws {
                for code in [
                    0, 999, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1011, 1014, 1015, 1016, 2999, 3000, 4999,
                    5000,
                ] {
                    let frame: [UInt8] = [0x88, 2, UInt8(code >> 8), UInt8(code & 0xFF)]
                    let kind = try await outcome(.text(Self.valid), .write(frame), .hold).kind
                    let isValid = [1000...1003, 1007...1014, 3000...4999].contains { $0.contains(code) }
                    let expected = code == 1000 ? nil : isValid ? NetworkError.Kind.webSocketClosed : .malformedResponse
                    #expect(kind == expected, "code \(code)")
                }
            }

            @Test("Frames that break a rule end the socket with the fault, and the server is told its code")
            func frames() async throws {
                let frames: [([UInt8], NetworkError.Kind)] = [
                    ([0xC1, 0], .malformedResponse), ([0xA1, 0], .malformedResponse), ([0x91, 0], .malformedResponse),
                    ([0x83, 0], .malformedResponse), ([0x8F, 0], .malformedResponse),
                    ([0x81, 0x80], .malformedResponse),
                    ([0x09, 0], .malformedResponse), ([0x89, 126, 0, 126], .malformedResponse),
                    ([0x80, 0], .malformedResponse), ([0x01, 0, 0x01, 0], .malformedResponse),
                    ([0x82, 126, 0, 125], .malformedResponse), ([0x82, 126, 0x03, 0xE9], .responseTooLarge),
                    ([0x82, 127, 0xFF, 0, 0, 0, 0, 0, 0, 0], .malformedResponse),
                    ([0x82, 127, 0x7F, 0, 0, 0, 0, 0, 0, 0], .responseTooLarge),
                    (
                        [0x01, 126, 0x02, 0] + [UInt8](repeating: 0x61, count: 512) + [0x80, 126, 0x02, 0],
                        .responseTooLarge
                    ),
                    ([0x81, 1, 0xFF], .malformedResponse), ([0x88, 1, 0], .malformedResponse),
                ]
                for (index, (bytes, kind)) in frames.enumerated() {
                    let code = Box<UInt16>(0)
                    let server = try RawServer { connection in
                        Self.serve([.text(Self.valid), .write(bytes)], connection)
                        let answer = [UInt8](connection.read(8))
                        guard answer.count == 8, answer[0] == 0x88 else { return }
                        code.change { $0 = UInt16(answer[6] ^ answer[2]) << 8 | UInt16(answer[7] ^ answer[3]) }
                    }
                    let socket = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                        $0.transport = transport
                    }.webSocket(.get(""), .init { $0.maximumMessageSize = 1_000 }, reconnecting: .never)
                    let error = await #expect(throws: (any Error).self) { for try await _ in socket {} }
                    #expect(Self.kind(of: error) == kind, "case \(index): \(bytes.prefix(4))")
                    let expected: ClosedRange<UInt16> = kind == .responseTooLarge ? 1009...1009 : 1002...1007
                    #expect(try await Exchange.eventually { expected.contains(code.value) }, "case \(index)")
                }
            }

            @Test("A response that opens no socket is the error that its fault is")
            func responses() async throws {
                let cases: [([Step], NetworkError.Kind)] = [
                    ([.text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")], .unacceptableStatus),
                    ([.text("HTTP/1.1 200 OK\r\n\r\nok")], .unacceptableStatus),
                    (
                        [.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), .hold],
                        .unacceptableStatus
                    ),
                    ([.text("HTTP/1.1 426 Upgrade\r\nContent-Length: 5\r\n\r\nok")], .unacceptableStatus),
                    ([.text(Self.valid.replacing("$ACCEPT", with: "wrong")), .hold], .malformedResponse),
                    ([.text(Self.valid.replacing("Upgrade: websocket\r\n", with: "")), .hold], .malformedResponse),
                    ([.text(Self.valid.replacing("101 Switching Protocols", with: "9x"))], .malformedResponse),
                    ([.text("\0\0\0\0\r\n\r\n"), .hold], .malformedResponse),
                    (
                        [.text("HTTP/1.1 101 x\r\n" + String(repeating: "X: y\r\n", count: 100_000)), .hold],
                        .responseTooLarge
                    ),
                    ([.text("HTTP/1.1 101 " + String(repeating: "x", count: 600_000)), .hold], .responseTooLarge),
                ]
                for (index, (steps, kind)) in cases.enumerated() {
                    #expect(try await outcome(of: steps).kind == kind, "case \(index)")
                }
            }

            @Test("A server that says nothing, or stops inside the head, is given up after the idle timeout")
            func slow() async throws {
                for steps in [[Step.hold], [.text("HTTP/1.1 101 Switch"), .hold]] {
                    #expect(try await outcome(of: steps, idle: .milliseconds(200)).kind == .idleTimedOut)
                }
            }

            @Test("A socket can be closed while the server takes no bytes, and ends after 5 seconds")
            func stuck() async throws {
                let server = try RawServer { connection in
                    Self.serve([.text(Self.valid)], connection)
                    Thread.sleep(forTimeInterval: 8)
                }
                let socket = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                    $0.transport = transport
                }.webSocket(.get(""), .init { $0.compresses = false }, reconnecting: .never)
                try await socket.connect()
                let sending = Task { try await socket.send(Data(count: 64 << 20)) }
                try await Task.sleep(for: .milliseconds(300))
                let start = ContinuousClock.now
                await socket.close()
                #expect(ContinuousClock.now - start < .seconds(7))
                await #expect(throws: (any Error).self) { try await sending.value }
            }

            @Test("After the last socket has ended, the loop of the transport rests")
            func rests() async throws {
                let result = try await outcome(.text(Self.valid), .write([0x88, 2, 0x03, 0xE8]))
                #expect(result.kind == nil)
                // The threads of other tests may be busy, but not for the whole time.
                var isResting = false
                for _ in 0..<25 where !isResting {
                    let before = threadTime()
                    try await Task.sleep(for: .milliseconds(200))
                    if let before, let after = threadTime() { isResting = after - before < 0.05 }
                }
                #expect(isResting)
            }

            /// The processor time of libcurl's loops, in seconds. Nil if a thread has ended while they were listed.
            private func threadTime() -> Double? {
                let folder = URL(fileURLWithPath: "/proc/self/task")
                let threads = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                guard let threads else { return nil }
                var ticks = 0
                for thread in threads {
                    guard let text = try? String(contentsOf: thread.appendingPathComponent("stat"), encoding: .utf8),
                        text.contains("(networking.curl"), let end = text.lastIndex(of: ")")
                    else { continue }
                    let fields = text[end...].split(separator: " ")
                    ticks += (Int(fields[12]) ?? 0) + (Int(fields[13]) ?? 0)
                }
                return Double(ticks) / 100
            }

            @Test("A flood of pings costs no memory, and the last ones are answered")
            func pingFlood() async throws {
                let pings = [UInt8](repeating: 0, count: 20_000).flatMap { _ in [0x89, 1, 7] as [UInt8] }
                let result = try await outcome(
                    .text(Self.valid), .write(pings), .write([0x81, 2, 0x6F, 0x6B, 0x88, 2, 0x03, 0xE8]), .hold)
                #expect(result.messages == [.text("ok")])
                #expect(result.kind == nil)
            }
        }
    }

#endif
