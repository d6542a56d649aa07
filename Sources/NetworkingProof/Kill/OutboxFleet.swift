import Foundation
import Networking
import NetworkingTesting

/// Four processes that share the folder of an outbox, and the server that they write to.
final class OutboxFleet {
    let size = 4
    let server: OutboxServer
    private let folder: URL
    private let log: URL
    private var workers: [WorkerProcess] = []
    private var started = 0

    init(in folder: URL, seed: UInt64) throws {
        self.folder = folder.appending(path: "outbox")
        log = folder.appending(path: "log")
        server = try OutboxServer(seed: seed)
        for _ in 0..<size { workers.append(try start()) }
    }

    private func start(writing: Bool = true) throws -> WorkerProcess {
        started += 1
        let arguments = ["outbox", folder.path, server.server.url.absoluteString, log.path, writing ? "write" : "read"]
        return try WorkerProcess("process\(started)", arguments)
    }

    /// Kills a process, and starts another one.
    func replace(_ index: Int) throws {
        for worker in workers where !worker.isRunning { server.add("\(worker.name) has ended unexpectedly") }
        server.noteDeath(of: workers[index].name)
        workers[index].kill()
        workers[index] = try start()
    }

    /// Waits until a number of requests has arrived since the given count.
    func waitForRequest(after count: Int) async throws {
        let end = ContinuousClock.now + .seconds(15)
        while server.count == count {
            guard ContinuousClock.now < end else { return server.add("no request within 15 seconds after a kill") }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Lets the processes send what they have stored. Then nothing may remain: each stored write must have been
    /// executed, and its end must have been reported.
    func finish() throws {
        for worker in workers { worker.endInput() }
        for worker in workers where !worker.finish() { server.add("\(worker.name) does not end") }
        let last = try start(writing: false)
        if !last.finish() { server.add("the last process does not end") }
        let lines = try String(decoding: Data(contentsOf: log), as: UTF8.self).split(separator: "\n")
        func keys(_ word: String) -> Set<String> {
            Set(lines.filter { $0.hasPrefix(word) }.map { String($0.dropFirst(word.count)) })
        }
        let executed = server.keys
        for key in keys("stored ").subtracting(executed) { server.add("the write \(key) is missing") }
        for key in executed.subtracting(keys("end ")) { server.add("the end of the write \(key) was not reported") }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "outbox.lease" }
        for name in left { server.add("\(name) was left behind") }
        server.server.stop()
    }
}
