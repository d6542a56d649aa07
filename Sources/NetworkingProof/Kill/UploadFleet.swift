import Foundation
import Networking
import NetworkingTesting

/// Three processes that upload the same file, and their server.
final class UploadFleet {
    let server: UploadServer
    private let folder: URL
    private var workers: [WorkerProcess] = []
    private var started = 0
    private var found: [String] = []

    init(in folder: URL) throws {
        self.folder = folder
        let content = Data((0..<16_000_000).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 9) })
        server = try UploadServer(content)
        try content.write(to: file)
        for _ in 0..<3 { workers.append(try start()) }
    }

    private var file: URL { folder.appending(path: "film.mp4") }
    var size: Int { workers.count }
    var violations: [String] { found + server.violations }

    private func start() throws -> WorkerProcess {
        started += 1
        return try WorkerProcess("process\(started)", ["upload", file.path, server.server.url.absoluteString])
    }

    /// Kills a process, and starts another one.
    func replace(_ index: Int) throws {
        for worker in workers where !worker.isRunning { found.append("\(worker.name) has ended unexpectedly") }
        workers[index].kill()
        workers[index] = try start()
    }

    /// Waits until a number of requests has arrived since the given count.
    func waitForRequest(after count: Int) async throws {
        let end = ContinuousClock.now + .seconds(15)
        while server.counts.requests == count {
            guard ContinuousClock.now < end else { return found.append("no request within 15 seconds") }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Lets the processes complete their uploads and end. Then uploads the file once more. After that, the folder must
    /// contain nothing but the file.
    func finish() async throws {
        for worker in workers where !worker.finish() {
            found.append("\(worker.name) did not end with status 0 within 30 seconds")
        }
        let service = NetworkService(environment: NetworkEnvironment(baseURL: server.server.url))
        for _ in 0..<100 {
            do {
                try await service.request(UploadWorker.FilmEndpoint(file: file))
                break
            } catch let error as NetworkError where error.kind == .notProcessed {
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        found += names.filter { $0 != "film.mp4" }.map { "\($0) was left behind" }
        server.server.stop()
    }
}
