import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Multipart forms and files", .timeLimit(.minutes(5)))
    struct MultipartTests {
        /// A server that stores each body with its media type, and responds with 204.
        private final class Sink: Sendable {
            struct Received: Sendable {
                let contentType: String
                let length: String?
                let body: Data
            }

            let server: LoopbackServer
            private let received = Kept()

            private final class Kept: @unchecked Sendable {  // because of the lock
                private let lock = NSLock()
                private var all: [Received] = []
                func add(_ one: Received) { lock.withLock { all.append(one) } }
                var values: [Received] { lock.withLock { all } }
            }

            init() throws {
                let received = received
                server = try LoopbackServer { request in
                    let body = try await request.data()
                    received.add(
                        Received(
                            contentType: request.headers[.contentType] ?? "", length: request.headers[.contentLength],
                            body: body))
                    return LoopbackResponse(.noContent)
                }
            }

            var all: [Received] { received.values }
        }

        private struct Upload: Endpoint {
            let body: HTTPBody
            var path: EndpointPath { "upload" }
            var method: HTTPMethod { .post }
        }

        private func send(_ body: HTTPBody, to sink: Sink, _ engine: Engine = .preferred) async throws {
            let transport = try engine.shared()
            let service = NetworkService(environment: NetworkEnvironment(baseURL: sink.server.url)) {
                $0.transport = transport
            }
            try await service.request(Upload(body: body))
        }

        private struct Expected: Codable, Equatable {
            let name: String
            let fileName: String?
            let type: String?
            let content: Data
        }

        private static func text(_ random: inout SystemRandomNumberGenerator) -> String {
            let strange = Array("\"\\;=%\r\n'()ü✓ 漢.")
            return String(
                (0..<Int.random(in: 1...10, using: &random)).map { _ in
                    Bool.random(using: &random)
                        ? strange.randomElement(using: &random) ?? "x" : "abcXYZ09".randomElement(using: &random) ?? "y"
                })
        }

        private static func bytes(_ random: inout SystemRandomNumberGenerator) -> Data {
            let count = [0, 1, 2, 100, 70_000].randomElement(using: &random) ?? 0
            let tricky = Array("\r\n--boundary\r\n-".utf8)
            return Data(
                (0..<count).map { _ in
                    Bool.random(using: &random)
                        ? .random(in: 0...255, using: &random) : tricky.randomElement(using: &random) ?? 0
                })
        }

        /// Returns a part (a field, data, a file or a stream), and the values that a parser must read from it.
        private func part(
            _ scratch: Scratch, _ number: Int, _ random: inout SystemRandomNumberGenerator
        ) throws -> (HTTPBody.Part, Expected) {
            let name = Self.text(&random)
            let content = Self.bytes(&random)
            switch number % 4 {
            case 0:
                let value = "\(Int.random(in: -9...9, using: &random))"
                return (.field(name, value), Expected(name: name, fileName: nil, type: nil, content: Data(value.utf8)))
            case 1:
                let fileName = Self.text(&random) + ".png"
                return (
                    .data(name, content, fileName: fileName),
                    Expected(name: name, fileName: fileName, type: "image/png", content: content)
                )
            case 2:
                let file = scratch.file("file-\(number)-\(UUID().uuidString).bin")
                try content.write(to: file)
                return (
                    .file(name, at: file),
                    Expected(
                        name: name, fileName: file.lastPathComponent, type: "application/octet-stream", content: content
                    )
                )
            default:
                let part = HTTPBody.Part.stream(name, fileName: "stream", length: content.count, isReplayable: true) {
                    try HTTPBody.data(content).open()
                }
                return (
                    part, Expected(name: name, fileName: "stream", type: "application/octet-stream", content: content)
                )
            }
        }

        @Test(
            "Independent parsers read every part unchanged", .row("R-30", "N-12", "N-13", "N-14"),
            .enabled(if: Tool.python.isExpected, Tool.python.comment))
        func readBack() async throws {
            var random = SystemRandomNumberGenerator()
            let scratch = try Scratch()
            let sink = try Sink()
            var expected: [[Expected]] = []
            for _ in 0..<40 {
                let parts = try (0..<Int.random(in: 0...6, using: &random)).map { try part(scratch, $0, &random) }
                expected.append(parts.map(\.1))
                try await send(.multipart(parts.map(\.0)), to: sink)
            }
            for (index, received) in sink.all.enumerated() {
                #expect(received.length == "\(received.body.count)", "the length is known before the body is sent")
                try received.body.write(to: scratch.file("body-\(index)"))
                try Data(received.contentType.utf8).write(to: scratch.file("type-\(index)"))
            }
            try Data(Self.parser.utf8).write(to: scratch.file("read.py"))
            try Tool.python.run(["read.py", "\(sink.all.count)"], in: scratch.url)
            for parser in ["email", "werkzeug"] {
                guard let data = try? Data(contentsOf: scratch.file("\(parser).json")) else { continue }
                let read = try JSONDecoder().decode([[Expected]].self, from: data)
                #expect(read.count == expected.count)
                for (read, expected) in zip(read, expected) {
                    #expect(read == expected.map { Self.asParsed($0, by: parser) }, "\(parser)")
                }
            }
        }

        /// Returns the part as a parser reads it: quotes and line breaks in names are percent-encoded, as browsers send
        /// them.
        private static func asParsed(_ part: Expected, by parser: String) -> Expected {
            func shown(_ text: String) -> String {
                text.unicodeScalars.map { scalar in
                    switch scalar {
                    case "\"": "%22"
                    case "\r": "%0D"
                    case "\n": "%0A"
                    default: String(scalar)
                    }
                }.joined()
            }
            return Expected(
                name: shown(part.name), fileName: part.fileName.map(shown), type: part.type, content: part.content)
        }

        private static let parser = """
            import base64, json, re, sys
            count = int(sys.argv[1])

            def disposition(line, key):
                found = re.search(key + '="([^"]*)"', line)
                return found and found.group(1)

            # Parses strictly by RFC 2046, with only the standard library.
            from email.parser import BytesHeaderParser
            forms = []
            for index in range(count):
                body = open(f"body-{index}", "rb").read()
                boundary = re.search("boundary=(.*)", open(f"type-{index}").read()).group(1).strip('"').encode()
                pieces = (b"\\r\\n" + body).split(b"\\r\\n--" + boundary)
                assert pieces[0] == b"" and pieces[-1] == b"--\\r\\n", pieces[-1]
                parts = []
                for piece in pieces[1:-1]:
                    assert piece[:2] == b"\\r\\n"
                    head, content = piece[2:].split(b"\\r\\n\\r\\n", 1)
                    fields = {k.lower(): v for k, v in (line.split(": ", 1) for line in head.decode().split("\\r\\n"))}
                    parts.append({
                        "name": re.search('; name="([^"]*)"', fields["content-disposition"]).group(1),
                        "fileName": disposition(fields["content-disposition"], "filename"),
                        "type": fields.get("content-type"), "content": base64.b64encode(content).decode()})
                forms.append(parts)
            json.dump(forms, open("email.json", "w"))

            try:
                from werkzeug.sansio.multipart import MultipartDecoder, Field, File, Data, Epilogue, NeedData
                from werkzeug.http import parse_options_header
            except ImportError:
                sys.exit(0)
            forms = []
            for index in range(count):
                boundary = parse_options_header(open(f"type-{index}").read())[1]["boundary"].encode()
                body = open(f"body-{index}", "rb").read()
                decoder = MultipartDecoder(boundary)
                decoder.receive_data(body)
                decoder.receive_data(None)
                parts = []
                while True:
                    event = decoder.next_event()
                    if isinstance(event, (Epilogue, NeedData)):
                        break
                    if isinstance(event, (Field, File)):
                        raw = dict(event.headers)["Content-Disposition"]
                        parts.append({"name": disposition(raw, "; name"), "fileName": disposition(raw, "filename"),
                            "type": event.headers.get("Content-Type"), "content": b""})
                    if isinstance(event, Data):
                        parts[-1]["content"] += event.data
                for part in parts:
                    part["content"] = base64.b64encode(part["content"]).decode()
                forms.append(parts)
            json.dump(forms, open("werkzeug.json", "w"))
            """

        @Test(
            "A file is sent unchanged, with its length and the media type of its file name extension", .row("I-15"),
            arguments: Engine.allCases)
        func file(engine: Engine) async throws {
            let scratch = try Scratch()
            let sink = try Sink()
            let content = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try content.write(to: scratch.file("photo.png"))
            try Data().write(to: scratch.file("empty.txt"))
            try await send(.file(scratch.file("photo.png")), to: sink, engine)
            try await send(.file(scratch.file("empty.txt")), to: sink, engine)
            #expect(sink.all.map(\.contentType) == ["image/png", "text/plain"])
            #expect(sink.all.map(\.length) == ["1000000", "0"])
            #expect(sink.all[0].body == content)
        }

        @Test("A missing or unreadable source is a clear error before anything is sent")
        func missing() async throws {
            let sink = try Sink()
            let nowhere = URL(fileURLWithPath: "/no/such/photo.png")
            for body in [
                HTTPBody.file(nowhere), .multipart([.field("a", 1), .file("photo", at: nowhere)]),
                .file(URL(fileURLWithPath: "/tmp")),
            ] {
                do {
                    try await send(body, to: sink)
                    #expect(Bool(false), "the request was sent")
                } catch let error as NetworkError {
                    #expect(error.kind == .bodyUnreadable)
                    #expect(
                        error.description.contains("the file photo.png does not exist")
                            || error.description.contains("the file tmp cannot be read"))
                }
            }
            #expect(sink.server.requestCount == 0)
        }

        @Test("A source that shrinks while it is sent is a clear error, and the server does not accept it as complete")
        func shrinking() async throws {
            let scratch = try Scratch()
            let sink = try Sink()
            let file = scratch.file("log.txt")
            try Data(count: 4 << 20).write(to: file)
            let parts = [
                HTTPBody.Part.stream("first", fileName: "x", length: 1, isReplayable: true) {
                    // The first part is read after the length of the second part has been sent.
                    try Data(count: 10).write(to: file)
                    return try HTTPBody.data(Data([1])).open()
                }, .file("log", at: file),
            ]
            await #expect(throws: NetworkError.self) { try await send(.multipart(parts), to: sink) }
            #expect(sink.all.isEmpty)
        }

        @Test("A stream of unknown length is sent in chunks; one with a wrong length ends the call with an error")
        func streams() async throws {
            let sink = try Sink()
            func part(_ length: Int?) -> HTTPBody.Part {
                .stream("s", fileName: "s.txt", length: length, isReplayable: false) {
                    HesitantReader(["one ", "two"])
                }
            }
            try await send(.multipart([part(nil)]), to: sink)
            #expect(sink.all[0].length == nil)
            #expect(String(decoding: sink.all[0].body, as: UTF8.self).contains("\r\n\r\none two\r\n"))
            for length in [3, 100] {
                await #expect(throws: NetworkError.self) { try await send(.multipart([part(length)]), to: sink) }
            }
        }

        @Test("An upload is sent again in full after a 401 and after a 307")
        func replayed() async throws {
            let scratch = try Scratch()
            let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 17) })
            try content.write(to: scratch.file("film.mp4"))
            let server = try LoopbackServer()
            let bodies = Bodies()
            server.route(.post, "/upload") { request in
                bodies.add(try await request.data())
                return request.headers.authorization == .bearer("new")
                    ? LoopbackResponse(.temporaryRedirect, headers: [.location: "/moved"])
                    : LoopbackResponse(.unauthorized)
            }
            server.route(.post, "/moved") { request in
                bodies.add(try await request.data())
                return LoopbackResponse(.noContent)
            }
            struct Film: Endpoint {
                let body: HTTPBody
                var path: EndpointPath { "upload" }
                var method: HTTPMethod { .post }
                var authorizationType: AuthorizationType { .bearer }
            }
            let session = AccessTokenSupervisor(token: AccessToken("old")) { _ in AccessToken("new") }
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url), authorizedBy: session)
            try await service.request(
                Film(body: .multipart([.field("title", "x"), .file("film", at: scratch.file("film.mp4"))])))
            #expect(bodies.all.count == 3)
            #expect(Set(bodies.all).count == 1)
            #expect(bodies.all[0].range(of: content) != nil)
        }

        private final class Bodies: @unchecked Sendable {  // because of the lock
            private let lock = NSLock()
            private var kept: [Data] = []
            func add(_ body: Data) { lock.withLock { kept.append(body) } }
            var all: [Data] { lock.withLock { kept } }
        }
    }
}
