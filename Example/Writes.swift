import Foundation
import Networking
import NetworkingOutbox
import NetworkingTesting

/// A chapter of the tour: a process is killed in the middle of a write, and started again. The server executes the
/// write once.
struct Writes {
    private let ledger: Ledger
    private let server = CommentServer()

    init(_ ledger: Ledger) {
        self.ledger = ledger
    }

    /// Runs the chapter.
    func play() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "networking-example-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let loopback = try server.start()
        defer { loopback.stop() }

        let first = try start(folder, loopback.url)
        while server.requests == 0, first.isRunning { try await Task.sleep(for: .milliseconds(5)) }
        kill(first.processIdentifier, SIGKILL)
        first.waitUntilExit()
        server.isHanging = false
        let second = try start(folder, loopback.url)
        while second.isRunning { try await Task.sleep(for: .milliseconds(5)) }

        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".entry") }
        ledger.step(
            "a process was killed while it wrote a comment, and started again: \(server.requests) requests with one "
                + "key, \(server.comments.count) comment",
            isRight: server.requests == 2 && server.comments == ["hi"] && left.isEmpty
                && second.terminationStatus == 0)
    }

    private func start(_ folder: URL, _ server: URL) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
        process.arguments = ["--write", folder.path, "--url", server.absoluteString]
        try process.run()
        return process
    }

    /// Adds a comment to the outbox, unless the outbox still contains one, and returns when the comment has been sent.
    static func write(in folder: URL, to server: URL) async throws {
        let service = NetworkService(environment: NetworkEnvironment(baseURL: server))
        let outbox = try Outbox(
            for: service, in: folder, endpoints: [.init(CommentEndpoint.self, name: "comment")],
            lease: .milliseconds(500))
        let changes = outbox.changes.values()
        if try await outbox.pending().isEmpty {
            try await outbox.enqueue(CommentEndpoint.add(to: 7, "hi"), order: "posts/7")
        }
        for await entry in changes where entry.state.isEnd { return try await outbox.acknowledge(entry.id) }
    }
}

/// The calls of the chapter.
enum CommentEndpoint: Endpoint, Codable {
    case add(to: Int, String)

    var path: EndpointPath {
        switch self {
        case .add(let post, _): "posts/\(post)/comments"
        }
    }

    var method: HTTPMethod { .post }

    var body: HTTPBody {
        switch self {
        case .add(_, let text): .json(["text": text])
        }
    }
}

/// A server that honours idempotency keys. It executes the first write, but responds only when `isHanging` is false.
final class CommentServer: @unchecked Sendable {  // because of the lock around every variable
    private let lock = NSLock()
    private var keys: Set<String> = []
    private var texts: [String] = []
    private var count = 0
    private var hangs = true

    var requests: Int { lock.withLock { count } }
    var comments: [String] { lock.withLock { texts } }
    var isHanging: Bool {
        get { lock.withLock { hangs } }
        set { lock.withLock { hangs = newValue } }
    }

    func start() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.route(.post, "/posts/:id/comments") { [self] request in
            let comment: [String: String] = try await request.json()
            lock.withLock {
                count += 1
                if keys.insert(request.headers[.idempotencyKey] ?? "").inserted { texts.append(comment["text"] ?? "") }
            }
            while isHanging { try await Task.sleep(for: .milliseconds(5)) }
            return LoopbackResponse(.created)
        }
        return server
    }
}
