import Foundation
import Networking
import NetworkingTesting

/// A chapter of the tour: a process is killed in the middle of an upload, and started again. It sends only the bytes
/// that have not arrived.
struct Uploads {
    private let ledger: Ledger
    private let server = FilmServer()

    init(_ ledger: Ledger) {
        self.ledger = ledger
    }

    /// Runs the chapter.
    func play() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "networking-example-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let film = Data((0..<32_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9) })
        let file = folder.appending(path: "film.mp4")
        try film.write(to: file)
        let loopback = try server.start(length: film.count)
        defer { loopback.stop() }

        let first = try start(file, loopback.url)
        while server.received.count < 1_000_000, first.isRunning { try await Task.sleep(for: .milliseconds(5)) }
        kill(first.processIdentifier, SIGKILL)
        first.waitUntilExit()
        let second = try start(file, loopback.url)
        while second.isRunning { try await Task.sleep(for: .milliseconds(5)) }

        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let words = server.starts.count > 1 ? "went on after \(server.starts[1]) bytes" : "sent nothing"
        ledger.step(
            "a process was killed while it uploaded a film, and started again: it \(words), and every byte is correct",
            isRight: server.received == film && server.starts.count == 2 && server.starts[0] == 0
                && server.starts[1] >= 1_000_000 && names == ["film.mp4"] && second.terminationStatus == 0)
    }

    private func start(_ file: URL, _ server: URL) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
        process.arguments = ["--upload", file.path, "--url", server.absoluteString]
        try process.run()
        return process
    }

    /// Uploads a file.
    static func upload(_ file: URL, to server: URL) async throws {
        let service = NetworkService(environment: NetworkEnvironment(baseURL: server)) {
            // The server may still be reading the bytes that the killed process sent.
            $0.retry = RetryPolicy(retries: 50, backoff: .constant(.milliseconds(100)))
            $0.settings.maximumAttempts = 60
        }
        try await service.request(.post("films").body(.file(file).resumable(.tus)))
    }
}

/// A server of tus 1.0 for one upload. It reads slowly.
final class FilmServer: @unchecked Sendable {  // because of the lock around every variable
    private let lock = NSLock()
    private var bytes = Data()
    private var offsets: [Int] = []
    private var isBusy = false

    var received: Data { lock.withLock { bytes } }
    /// The offsets at which the requests that send bytes began.
    var starts: [Int] { lock.withLock { offsets } }

    func start(length: Int) throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.route(.options, "/films") { _ in
            LoopbackResponse(.noContent, headers: ["Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0"])
        }
        server.route(.post, "/films") { _ in
            LoopbackResponse(.created, headers: ["Tus-Resumable": "1.0.0", "Location": "/films/1"])
        }
        server.route(.head, "/films/1") { [self] _ in
            let (count, isReading) = lock.withLock { (bytes.count, isBusy) }
            guard !isReading else { return LoopbackResponse(.locked) }
            return LoopbackResponse(.ok, headers: ["Upload-Offset": "\(count)", "Upload-Length": "\(length)"])
        }
        server.route(.patch, "/films/1") { [self] request in
            let start = Int(request.headers["Upload-Offset"] ?? "") ?? -1
            let isRight = lock.withLock {
                guard start == bytes.count else { return false }
                offsets.append(start)
                isBusy = true
                return true
            }
            guard isRight else { return LoopbackResponse(.conflict) }
            defer { lock.withLock { isBusy = false } }
            for try await chunk in request.body {
                lock.withLock { bytes += chunk }
                try await Task.sleep(for: .milliseconds(1))
            }
            return LoopbackResponse(.noContent, headers: ["Upload-Offset": "\(lock.withLock { bytes.count })"])
        }
        return server
    }
}
