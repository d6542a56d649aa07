import Foundation
import Networking

/// Processes that share a cache on disk, and the responses that must be stored after a process was killed.
final class CacheFleet {
    private let folder: URL
    /// The capacity of the cache. If it is full, stored responses may be missing.
    private let capacity: Int
    private let isFull: Bool
    private var workers: [WorkerProcess] = []
    private var started = 0
    private(set) var violations: [String] = []
    /// The number of steps that the killed processes had completed.
    private(set) var steps = 0
    /// The largest size of the directory that was seen.
    private(set) var most = 0

    init(_ size: Int, in folder: URL, isFull: Bool) throws {
        self.folder = folder
        self.isFull = isFull
        capacity = isFull ? 4 << 20 : 256 << 20
        for _ in 0..<size { workers.append(try start()) }
    }

    var directory: URL { folder.appending(path: "cache") }
    var size: Int { workers.count }

    private func start() throws -> WorkerProcess {
        started += 1
        let name = "worker\(started)"
        return try WorkerProcess(name, ["cache", directory.path, "\(capacity)", log(name).path])
    }

    private func log(_ name: String) -> URL { folder.appending(path: "\(name).log") }

    private func size(of file: URL) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        return attributes?[.size] as? Int ?? 0
    }

    /// Kills a process, checks what it has stored, and starts another one.
    func replace(_ index: Int) async throws {
        let worker = workers[index]
        // The process is killed after its first step, because before this step it has stored nothing.
        let end = ContinuousClock.now + .seconds(10)
        while size(of: log(worker.name)) == 0, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(2)) }
        if !worker.isRunning { violations.append("\(worker.name) ended by itself") }
        worker.kill()
        workers[index] = try start()
        try await check(worker.name)
    }

    func stop() {
        for worker in workers { worker.kill() }
    }

    /// Checks the URLs that only the killed process has changed. The cache must contain the result of the last
    /// completed step of each URL, or of the step that the process was performing when it was killed.
    private func check(_ name: String) async throws {
        let text = try String(contentsOf: log(name), encoding: .utf8)
        try FileManager.default.removeItem(at: log(name))
        var last: [String: (event: String, version: Int)] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            let version = Int(words[2]) ?? 0
            let path = String(words[1])
            last[path] = (String(words[0]), words[0] == "removed" ? last[path]?.version ?? 0 : version)
            steps += 1
        }
        checkSize()
        guard let cache = CacheWorker.cache(in: directory, capacity) else {
            return violations.append("the cache cannot be opened")
        }
        let service = CacheWorker.service(cache, VersionedServer())
        for (path, step) in last {
            let found = try? await service.response(.get(EndpointPath(verbatim: path)), as: .data, with: .storedOnly)
            guard let found else {
                // The process may have been removing the response.
                if !isFull, step.event == "stored", !isNextRemoval(path, text) {
                    violations.append("\(path) \(step.version) is lost")
                }
                continue
            }
            guard let body = VersionedBody(found.value, of: path) else {
                violations.append("\(path) has wrong bytes")
                continue
            }
            let isNext = body.version == step.version + 1
            // If the newest response was removed because the cache was full, no older response may be found.
            if !isNext, step.event == "removed" || body.version != step.version {
                violations.append("\(path): \(step.event) \(step.version), found version \(body.version)")
            }
        }
    }

    /// Checks that the directory is not too large. Each process may exceed the capacity by an eighth, and may have been
    /// killed before it counted the files.
    private func checkSize() {
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: directory.path)) ?? []
        let sizes = files.filter { !($0.split(separator: "/").last?.hasPrefix(".") ?? true) }
            .map { size(of: directory.appending(path: $0)) }
        let total = sizes.reduce(0, +)
        most = max(most, total)
        if total > capacity * 2 { violations.append("the directory has \(total.grouped) bytes, capacity \(capacity)") }
    }

    /// Whether the step after the last line of a log removes the responses of a path.
    private func isNextRemoval(_ path: String, _ text: String) -> Bool {
        let next = text.split(separator: "\n").count + 1
        return next % 11 == 0 && path.hasSuffix("/\(next % CacheWorker.ownURLs)")
    }
}
