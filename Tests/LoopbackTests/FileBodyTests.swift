#if os(Linux)
    import Foundation
    import Testing

    @testable import Networking

    extension Loopback {
        @Suite("Bodies from files")
        struct FileBodyTests {
            @Test("Files that are read at once from a slow disk do not need a thread each")
            func threads() async throws {
                let scratch = try Scratch()
                let pipe = scratch.file("slow")
                try #require(mkfifo(pipe.path, 0o600) == 0)
                // While this descriptor is open, reading from the pipe waits. Closing it ends all reads.
                let writer = open(pipe.path, O_RDWR | O_CLOEXEC)
                defer { close(writer) }
                let threads = { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count }
                let before = try threads()
                let readers = try (0..<200).map { _ in
                    FileBodyReader(try FileHandle(forReadingFrom: pipe), length: 100)
                }
                for reader in readers {
                    _ = try withUnsafeTemporaryAllocation(byteCount: 100, alignment: 1) { try reader.read(into: $0) }
                }
                try await Task.sleep(for: .milliseconds(300))  // the system starts threads one after another
                // Other tests, which run at the same time, may start threads, too.
                #expect(try threads() - before < min(100 + ProcessInfo.processInfo.activeProcessorCount, 190))
                for reader in readers { reader.close() }
            }

            @Test("A named pipe that takes the place of a file causes an error, and nothing waits for it")
            func replacedByPipe() async throws {
                let scratch = try Scratch()
                let source = scratch.file("source")
                try Data("text".utf8).write(to: source)
                let body = try HTTPBody.file(source).encoded()
                try FileManager.default.removeItem(at: source)
                try #require(mkfifo(source.path, 0o600) == 0)
                let error = #expect(throws: NetworkError.self) { _ = try body.open() }
                #expect(error?.kind == .bodyUnreadable)
            }

            @Test("A connection that is reset while libcurl waits for bytes of a file is a lost connection")
            func reset() async throws {
                let scratch = try Scratch()
                let source = scratch.file("source")
                try Data(repeating: 7, count: 1 << 20).write(to: source)
                let server = try RawServer { connection in
                    guard connection.readHead() else { return }
                    _ = connection.read(1 + connection.number * 9_973 % 400_000)
                    connection.resetOnClose()
                }
                let transport = try CurlTransport()
                let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                    $0.transport = transport
                }
                for number in 0..<100 {
                    let error = await #expect(throws: NetworkError.self, "upload \(number)") {
                        try await service.request(.post("upload").body(.file(source)))
                    }
                    #expect(error?.kind == .connectionLostBeforeHead, "upload \(number): \(String(describing: error))")
                }
            }
        }
    }
#endif
