import Foundation
import Networking
import NetworkingTesting

/// Two processes that download to the same file, and their server.
final class DownloadFleet {
    let server: DownloadServer
    private let folder: URL
    private var workers: [WorkerProcess] = []
    private var started = 0
    private(set) var violations: [String] = []
    /// The versions of the content that were found in the target after a process was killed.
    private(set) var versions: Set<Int> = []

    init(in folder: URL) throws {
        self.folder = folder
        server = try DownloadServer()
        for _ in 0..<2 { workers.append(try start()) }
    }

    private var target: URL { folder.appending(path: DownloadServer.path) }
    var size: Int { workers.count }

    private func start() throws -> WorkerProcess {
        started += 1
        return try WorkerProcess("process\(started)", ["download", target.path, server.server.url.absoluteString])
    }

    /// Kills a process, checks the target, and starts another process.
    func replace(_ index: Int) throws {
        for worker in workers where !worker.isRunning { violations.append("\(worker.name) has ended unexpectedly") }
        workers[index].kill()
        if let bytes = try? Data(contentsOf: target) {
            if let body = VersionedBody(bytes, of: DownloadServer.path) {
                versions.insert(body.version)
            } else {
                violations.append("the target has \(bytes.count) wrong bytes")
            }
        }
        workers[index] = try start()
    }

    /// Waits until a number of requests has arrived since the given count.
    func waitForRequest(after count: Int) async throws {
        let end = ContinuousClock.now + .seconds(15)
        while server.counts.requests == count {
            guard ContinuousClock.now < end else { return violations.append("no request within 15 seconds") }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Lets the processes complete their downloads and end. Then downloads the content once more: the file must have
    /// the right content, and be the only file in the folder.
    func finish() async throws {
        for worker in workers where !worker.finish() {
            violations.append("\(worker.name) did not end with status 0 within 30 seconds")
        }
        let service = NetworkService(environment: NetworkEnvironment(baseURL: server.server.url))
        try await DownloadWorker.download(service, to: target)
        if try Data(contentsOf: target) != server.content { violations.append("the last download is wrong") }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        violations += names.filter { $0 != DownloadServer.path }.map { "\($0) was left behind" }
        server.server.stop()
    }
}
