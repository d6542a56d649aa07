import Foundation
import Networking

/// One of several processes that share a cache on disk. It stores, replaces, reads and removes responses until it is
/// killed, and writes a line to its log after each step. It also removes responses that the other processes use, and
/// notifies these processes.
struct CacheWorker: Sendable {
    /// The number of URLs that only this process changes.
    static let ownURLs = 8
    private static let sharedURLs = 8

    private let name: String
    private let log: FileHandle
    private let removals: SharedRemovals
    private let server = VersionedServer()
    private let service: NetworkService

    /// - Parameter arguments: The directory of the cache, its capacity, the file of the log, and the name of the
    ///   process.
    init?(_ arguments: [String]) {
        guard arguments.count == 4, let capacity = Int(arguments[1]),
            let cache = CacheWorker.cache(in: URL(fileURLWithPath: arguments[0]), capacity),
            FileManager.default.createFile(atPath: arguments[2], contents: nil),
            let log = FileHandle(forWritingAtPath: arguments[2]),
            let removals = SharedRemovals(arguments[0] + "-removals")
        else { return nil }
        (name, self.log, self.removals) = (arguments[3], log, removals)
        service = CacheWorker.service(cache, server)
    }

    static func cache(in folder: URL, _ capacity: Int) -> ResponseCache? {
        try? ResponseCache(directory: folder, capacity: capacity)
    }

    static func service(_ cache: ResponseCache, _ server: VersionedServer) -> NetworkService {
        let url = URL(string: "http://127.0.0.1:1/") ?? URL(fileURLWithPath: "/")
        return NetworkService(environment: NetworkEnvironment(baseURL: url)) {
            $0.cache = cache
            $0.transport = server
        }
    }

    func run() async {
        var step = 0
        while true {
            step += 1
            do { try await perform(step) } catch {
                FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
                exit(3)
            }
        }
    }

    private func perform(_ step: Int) async throws {
        let path = "\(name)/\(step % CacheWorker.ownURLs)"
        if step % 11 == 0 {
            try await service.request(.delete(EndpointPath(verbatim: path)))
            return note("removed", path, 0)
        }
        let version = server.next(path)
        // In every fifth step, the body is streamed into the cache.
        if step % 5 == 0 {
            let body = try await service.request(.get(EndpointPath(verbatim: path)), as: .stream, with: .reloading)
            for try await _ in body {}
        } else {
            _ = try await service.request(.get(EndpointPath(verbatim: path)), as: .data, with: .reloading)
        }
        note("stored", path, version)
        let shared = "shared/\(step * 7 % CacheWorker.sharedURLs)"
        if step % 3 == 0 {
            _ = try await service.request(.get(EndpointPath(verbatim: shared)), as: .data, with: .reloading)
        }
        if step % 13 == 0 {
            let time = SharedRemovals.now()
            try await service.request(.delete(EndpointPath(verbatim: shared)))
            removals.add(shared, time)
        }
        // The version of a shared URL is the time at which the server received the request. This time must not be
        // before a removal that has ended.
        let removed = removals.latest(of: shared)
        let found: Data
        do {
            found = try await service.request(.get(EndpointPath(verbatim: shared)), as: .data, with: .storedOnly)
        } catch let error as NetworkError where error.kind == .notCached { return }
        guard let body = VersionedBody(found, of: shared) else {
            throw NetworkError(.unknown, reason: "wrong bytes for \(shared)")
        }
        guard body.version >= removed else {
            throw NetworkError(.unknown, reason: "\(shared) is used \(removed - body.version) ns after its removal")
        }
    }

    private func note(_ event: String, _ path: String, _ version: Int) {
        log.write(Data("\(event) \(path) \(version)\n".utf8))
    }
}

extension RequestSettings {
    static var reloading: RequestSettings { RequestSettings { $0.caching = .reload } }
    static var storedOnly: RequestSettings { RequestSettings { $0.caching = .only } }
}

/// A server whose responses contain their path and their version. The version of a shared URL is the time of the
/// request.
final class VersionedServer: Transport, @unchecked Sendable {  // because of the lock
    private let lock = NSLock()
    private var versions: [String: Int] = [:]

    /// Changes the content of a path, and returns its new version.
    func next(_ path: String) -> Int {
        lock.withLock {
            versions[path, default: 0] += 1
            return versions[path] ?? 0
        }
    }

    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        let path = String(request.url.path.dropFirst())
        let version = path.hasPrefix("shared/") ? SharedRemovals.now() : lock.withLock { versions[path] ?? 0 }
        let body = VersionedBody(path: path, version: version).bytes
        let content: HTTPResponse.Content
        if case .streamed = delivery {
            let position = Position()
            content = .stream(IncomingBody(pull: { position.next(of: body) }))
        } else {
            content = .data(body)
        }
        return HTTPResponse(.ok, headers: [.cacheControl: "max-age=3600"], content: content, to: request)
    }

    private final class Position: @unchecked Sendable {  // because only one reader pulls
        private var start = 0

        func next(of body: Data) -> Data? {
            guard start < body.count else { return nil }
            defer { start += 20_000 }
            return Data(body[start..<min(start + 20_000, body.count)])
        }
    }
}

/// The completed removals of shared URLs, in a file that all processes append to.
final class SharedRemovals: @unchecked Sendable {  // because only one worker of a process uses it
    private let file: FileHandle
    private let descriptor: Int32
    private var rest = Data()
    private var times: [Substring: Int] = [:]

    init?(_ path: String) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0, let file = FileHandle(forReadingAtPath: path) else { return nil }
        self.file = file
    }

    /// The time in nanoseconds, from a clock that all processes share.
    static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
    }

    /// Adds the time at which a removal began. A single write is never mixed with a write of another process.
    func add(_ path: String, _ time: Int) {
        let line = Array("\(path) \(time)\n".utf8)
        _ = write(descriptor, line, line.count)
    }

    /// The time at which the latest completed removal of a path began; 0 if there is none.
    func latest(of path: String) -> Int {
        rest += file.readDataToEndOfFile()
        let lines = String(decoding: rest, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        for line in lines.dropLast() {
            let words = line.split(separator: " ")
            guard words.count == 2, let time = Int(words[1]) else { continue }
            times[words[0]] = max(times[words[0]] ?? 0, time)
        }
        rest = Data((lines.last ?? "").utf8)
        return times[Substring(path)] ?? 0
    }
}

/// A body that begins with its path and its version. All other bytes depend on these two.
struct VersionedBody: Equatable {
    let path: String
    let version: Int

    /// The first line, and bytes that are computed from it: up to 400 kB.
    var bytes: Data {
        let line = "\(path) \(version)\n"
        var state = line.utf8.reduce(UInt64(1_469_598_103_934_665_603)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        let count = version % 4 == 0 ? Int(state % 50_000) : Int(state % 200)
        var bytes = Data(line.utf8)
        for _ in 0..<count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            withUnsafeBytes(of: state.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    init(path: String, version: Int) {
        (self.path, self.version) = (path, version)
    }

    /// Reads a body. Returns nil if any byte is wrong.
    init?(_ bytes: Data, of path: String) {
        guard let line = bytes.split(separator: 0x0A, maxSplits: 1).first,
            let version = String(decoding: line, as: UTF8.self).split(separator: " ").last.flatMap({ Int($0) })
        else { return nil }
        self.init(path: path, version: version)
        guard self.bytes == bytes else { return nil }
    }
}
