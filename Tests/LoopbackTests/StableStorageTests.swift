#if os(Linux)
    import Foundation
    import Networking
    import NetworkingTesting
    import Testing

    @testable import NetworkingOutbox

    extension Loopback {
        /// Tests the system calls that bring bytes and names to stable storage, because no other effect of them is
        /// visible while the system runs.
        @Suite("Stable storage", .enabled(if: Tool.strace.isExpected, Tool.strace.comment))
        struct StableStorageTests {
            private let scratch: Scratch

            init() throws {
                scratch = try Scratch()
            }

            /// Returns the names of the calls and of the files that they concern: `fsync token.json.new`.
            private func calls(_ body: @escaping @Sendable () async throws -> Void) async throws -> [String] {
                let names = "fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink"
                let lines = try await TracedThread.calls(names, of: body)
                return lines.filter { $0.contains(scratch.url.lastPathComponent) && $0.hasSuffix("= 0") }.map { line in
                    let paths = line.split { "<>\"".contains($0) }.filter { $0.hasPrefix("/") }
                    let names = paths.map { $0.split(separator: "/").last.map(String.init) ?? "" }
                    return ([String(line.prefix { $0 != "(" })] + names).joined(separator: " ")
                }
            }

            private var folder: String { scratch.url.lastPathComponent }

            @Test("The bytes of a token are on stable storage before their name, and the name before `save` returns")
            func token() async throws {
                let store = AccessTokenFile(scratch.file("token.json"))
                let calls = try await calls { _ = try store.save(AccessToken("secret"), replacing: nil) }
                #expect(
                    calls == ["fsync token.json.new", "rename token.json.new token.json", "fsync \(folder)"])
            }

            @Test("The removal of a token is on stable storage before `save` returns")
            func removal() async throws {
                let store = AccessTokenFile(scratch.file("token.json"))
                #expect(try store.save(AccessToken("secret"), replacing: nil))
                let calls = try await calls { _ = try store.save(nil, replacing: AccessToken("secret")) }
                #expect(calls == ["unlink token.json", "fsync \(folder)"])
            }

            @Test(
                "An entry of an outbox and its body are on stable storage before their names, and these before a receipt"
            )
            func outbox() async throws {
                let folder = try OutboxFolder(scratch.file("outbox"), lease: .seconds(10), clock: .continuous)
                let id = UUID()
                let part = try PartialBody(in: folder, of: id, UUID())
                let calls = try await calls {
                    let file = try await part.write(.data(Data("body".utf8)))
                    let record = OutboxRecord(
                        id: id, key: "k", order: "a", owner: nil, enqueued: Date(), expires: nil, asks: false,
                        call: .init(name: "note", version: 1, content: Data()), body: .init(headers: [], file: file))
                    _ = try folder.add(record, body: part)
                }
                // The folder and its parent exist already.
                let kinds = calls.map { $0.replacing(/[0-9a-f-]{20,}/, with: "N") }
                #expect(
                    kinds == [
                        "fsync N.body.part", "rename N.body.part N.body", "fsync N.entry.new",
                        "rename N.entry.new N.entry", "fsync outbox",
                    ])
            }

            @Test("Only a durable download waits for stable storage", arguments: [true, false])
            func download(isDurable: Bool) async throws {
                let stub = StubTransport { _ in .text("film") }
                let service = NetworkService(
                    environment: NetworkEnvironment(baseURL: URL(string: "https://films.example"))
                ) { $0.transport = stub }
                let target = scratch.file("film")
                let calls = try await calls {
                    _ = try await service.request(
                        .get("film"), as: .file(at: target, overwriting: .replace, isDurable: isDurable))
                }
                let part = try #require(calls.first { $0.hasPrefix("rename") }?.split(separator: " ")[1])
                let rename = "rename \(part) film"
                #expect(calls == (isDurable ? ["fsync \(part)", rename, "fsync \(folder)"] : [rename]))
            }
        }
    }
#endif
