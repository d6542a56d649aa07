#if os(Linux)
    import Foundation
    import Networking
    import NetworkingOutbox
    import NetworkingTesting
    import Testing

    extension Loopback {
        @Suite("An outbox on a full disk", .enabled(if: SmallDisk.isAllowed, "this machine allows no mounts"))
        struct OutboxDiskTests {
            private struct Note: Endpoint, Codable {
                let text: String
                var path: EndpointPath { "notes" }
                var method: HTTPMethod { .post }
                var body: HTTPBody { .json(["text": text]) }
            }

            private let scratch: Scratch
            private let disk: SmallDisk
            private let stub = StubTransport()

            init() throws {
                scratch = try Scratch()
                disk = try #require(SmallDisk(at: scratch.file("disk")))
            }

            private func outbox() throws -> Outbox {
                let stub = stub
                let service = NetworkService(
                    environment: NetworkEnvironment(baseURL: URL(string: "https://api.example.com"))
                ) { $0.transport = stub }
                return try Outbox(
                    for: service, in: disk.url.appending(path: "outbox"), endpoints: [.init(Note.self, name: "note")])
            }

            /// Fills the disk to its last byte.
            private func fill() throws -> URL {
                let junk = disk.url.appending(path: "junk")
                let file = open(junk.path, O_WRONLY | O_CREAT, 0o600)
                defer { close(file) }
                let bytes = [UInt8](repeating: 0, count: 4096)
                while write(file, bytes, bytes.count) > 0 {}
                return junk
            }

            @Test("A write that cannot be stored is an error with the path, and leaves nothing; the others go on")
            func storing() async throws {
                stub.on(.post, "/notes", StubResponse(.created))
                let outbox = try outbox()
                let changes = outbox.changes.values()
                let junk = try fill()
                await #expect { try await outbox.enqueue(Note(text: "1")) } throws: { error in
                    ((error as? CocoaError)?.userInfo[NSFilePathErrorKey] as? String)?.contains("outbox") == true
                }
                let names = try FileManager.default.contentsOfDirectory(atPath: disk.url.path + "/outbox")
                #expect(names.allSatisfy { $0 == "outbox.lease" })
                try FileManager.default.removeItem(at: junk)
                try await outbox.enqueue(Note(text: "2"))
                for await entry in changes where entry.state.isEnd { break }
                #expect(stub.requests.count == 1)
            }

            @Test("A write whose end cannot be recorded is not sent again, and its end is recorded when there is space")
            func recording() async throws {
                let (hasArrived, mayEnd) = (
                    AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self)
                )
                stub.on(.post, "/notes") { _ in
                    hasArrived.continuation.yield()
                    for await _ in mayEnd.stream { break }
                    return StubResponse(.created)
                }
                let outbox = try outbox()
                let changes = outbox.changes.values()
                let entry = try await outbox.enqueue(Note(text: "1"))
                for await _ in hasArrived.stream { break }
                let junk = try fill()
                mayEnd.continuation.yield()
                for await entry in changes where entry.state.isEnd { break }
                #expect(try await outbox.pending().isEmpty)
                try FileManager.default.removeItem(at: junk)
                await outbox.flush(within: .seconds(5))
                let path = disk.url.path + "/outbox"
                let name = try FileManager.default.contentsOfDirectory(atPath: path).first { $0.hasSuffix(".entry") }
                let file = URL(fileURLWithPath: path).appending(path: try #require(name))
                while try !String(decoding: Data(contentsOf: file), as: UTF8.self).contains("sent") {
                    try await Task.sleep(for: .milliseconds(20))
                }
                #expect(stub.requests.count == 1)
                try await outbox.acknowledge(entry.id)
            }
        }
    }
#endif
