#if os(Linux)
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    extension Loopback {
        @Suite("Running cURL commands")
        struct CurlCommandRunTests {
            /// A request as the server received it.
            private struct Seen: Equatable, Sendable {
                let method: HTTPMethod
                let target: String
                let fields: [String: [String]]
                let body: Data

                /// - Parameter names: The names of the fields to compare.
                init(_ request: LoopbackRequest, names: Set<HTTPHeader.Name>) async throws {
                    method = request.method
                    target = request.target
                    fields = Dictionary(
                        grouping: request.fields.filter { names.contains($0.name) },
                        by: { $0.name.rawValue.lowercased() }
                    ).mapValues { $0.map(\.value) }
                    body = try await request.data()
                }
            }

            @Test(
                "If sh runs an unredacted command, the command sends the same request as the library", .row("N-38"),
                .enabled(if: Tool.curl.isExpected, Tool.curl.comment), arguments: 0..<8)
            func run(part: Int) async throws {
                let scratch = try Scratch()
                let last = Box<LoopbackRequest?>(nil)
                let seen = Box<[Seen]>([])
                let names = Box<Set<HTTPHeader.Name>>([])
                let server = try LoopbackServer { request in
                    let now = try await Seen(request, names: names.value)
                    seen.change { $0.append(now) }
                    last.change { $0 = request }
                    return LoopbackResponse(.noContent)
                }
                var generator = RequestGenerator(seed: UInt64(part), folder: scratch)
                for number in 0..<25 {
                    let request = try generator.request(to: server.url)
                    names.change { $0 = Set(request.allHeaders.map(\.name)) }
                    seen.change { $0 = [] }
                    let transport = try #require(CurlTransport.shared)
                    _ = try await transport.send(request, delivering: .buffered(limit: 1 << 20))
                    let command = request.curlCommand(redaction: .revealed)
                    try Tool.shell.run(
                        ["-c", "\(command) --silent --show-error --output /dev/null --noproxy '*'"], in: scratch.url)
                    let both = seen.value
                    try #require(both.count == 2, "\(number): \(command)")
                    #expect(both[0] == both[1], "\(number): \(command)")
                }
            }
        }
    }

    /// Creates requests that contain special characters of shells and of cURL.
    private struct RequestGenerator {
        private var generator: SeededGenerator
        private let folder: Scratch
        private var count = 0

        init(seed: UInt64, folder: Scratch) {
            generator = SeededGenerator(seed: 7_000 + seed)
            self.folder = folder
        }

        private static let words = [
            "plain", "it's", "\"quoted\"", "$HOME", "`ls`", "a b", "back\\slash", "100%", "%41", "semi;colon", "*", "~",
            "#x", "!",
            "ä€😀", "{1,2}", "[0-9]", "@file", "&and", "<tag>", "-n",
        ]

        private mutating func word() -> String { Self.words.randomElement(using: &generator) ?? "" }

        mutating func request(to server: URL) throws -> HTTPRequest {
            count += 1
            let methods: [HTTPMethod] = [.get, .post, .put, .patch, .delete, .head, .options, "PROPFIND"]
            let method = methods.randomElement(using: &generator) ?? .get
            var endpoint = AdHocEndpoint(method, "items/\(word())/\(word())").query(
                URLQuery(dictionaryLiteral: (word(), word()), ("n", count)))
            for name in ["X-One", "X-Two", "Accept", "User-Agent", "Authorization"] where Bool.random(using: &generator)
            {
                let value = word()
                endpoint = endpoint.header(
                    HTTPHeader.Name(name), Bool.random(using: &generator) ? value : "\(value) \(word())")
            }
            if Bool.random(using: &generator) { endpoint = endpoint.header("X-Empty", "") }
            if method != .head, method != .get || Bool.random(using: &generator) {
                endpoint = endpoint.body(try body())
            }
            return try EndpointRequest(
                endpoint: endpoint, environment: CopyOnWrite(NetworkEnvironment(baseURL: server))
            )
            .make(.standard).encodingBody()
        }

        private mutating func bytes() -> Data {
            Data(
                (0..<Int.random(in: 1...300, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator)
                })
        }

        private mutating func file() throws -> URL {
            let url = folder.file("\(count) \(["it's", "a b", "$x"].randomElement(using: &generator) ?? "f").bin")
            try bytes().write(to: url)
            return url
        }

        private mutating func body() throws -> HTTPBody {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: .empty
            case 1: .json(["name": word(), "lines": "one\ntwo\t\(word())"])
            case 2: .string("\(word())\n\(word())\r\n")
            case 3: .data(bytes())
            case 4: .file(try file())
            case 5: .form(["a": word(), "b": word()])
            case 6:
                .multipart([
                    .field("title", word()), .file("file", at: try file()), .data("raw", bytes(), fileName: word()),
                ])
            default: .data(Data("@\(word())".utf8), contentType: nil)
            }
        }
    }

    extension HTTPRequest {
        fileprivate func encodingBody() throws -> HTTPRequest {
            var request = self
            request.body = try body.encoded()
            return request
        }
    }
#endif
