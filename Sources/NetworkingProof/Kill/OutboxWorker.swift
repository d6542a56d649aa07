import Foundation
import Networking
import NetworkingOutbox

/// One of several processes that share an outbox. It stores writes in two orders of its own, and acknowledges each end,
/// until it is killed or its input ends. When the input ends, it waits until no entry remains.
struct OutboxWorker: Sendable {
    private let name: String
    private let writes: Bool
    private let log: FileHandle
    private let outbox: Outbox
    private let folder: String

    /// - Parameter arguments: The folder of the outbox, the URL of the server, the file of the log, whether the process
    ///   stores writes, and its name.
    init?(_ arguments: [String]) {
        guard arguments.count == 5, let url = URL(string: arguments[1]),
            let log = OutboxWorker.log(at: arguments[2])
        else { return nil }
        (folder, self.log, writes, name) = (arguments[0], log, arguments[3] == "write", arguments[4])
        // All processes have the token of one log-in.
        let login = UUID(uuid: (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1))
        let session = AccessTokenSupervisor(token: AccessToken("token", session: login)) { _ in AccessToken("token") }
        let service = NetworkService(environment: NetworkEnvironment(baseURL: url), authorizedBy: session) {
            [name] in
            $0.requestAdaptingService = RequestAdaptingService([HeadersAdapter(["X-Process": name])])
            $0.retry = .standard
            $0.settings.timeouts.idle = .seconds(10)
        }
        let outbox = try? Outbox(
            for: service, in: URL(fileURLWithPath: folder), endpoints: [.init(WriteEndpoint.self, name: "write")],
            lease: .milliseconds(1500))
        guard let outbox else { return nil }
        self.outbox = outbox
    }

    /// Opens a file that several processes append to, a line at a time.
    private static func log(at path: String) -> FileHandle? {
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        return file < 0 ? nil : FileHandle(fileDescriptor: file, closeOnDealloc: true)
    }

    func run() async throws {
        let isOver = InputEnd()
        let changes = outbox.changes.values()
        let acknowledging = Task {
            for await entry in changes {
                if case .refused(.unauthorized, _, _) = entry.state {
                    try await outbox.sendAgain(entry.id)  // a second refusal in succession ends a call
                } else if entry.state.needsDecision {
                    fail("\(entry)")
                }
                guard entry.state.isEnd else { continue }
                note("end \(entry.idempotencyKey)")
                try await outbox.acknowledge(entry.id)
            }
        }
        if writes {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in ["a", "b"] {
                    group.addTask {
                        let order = "\(name)-\(lane)"
                        for number in 0... {
                            // A process that has to wait for the lease must not store more than can be sent.
                            while try count() > 40, !isOver.hasCome { try await Task.sleep(for: .milliseconds(20)) }
                            if isOver.hasCome { return }
                            let entry = try await outbox.enqueue(
                                WriteEndpoint(order: order, number: number), order: order)
                            note("stored \(entry.idempotencyKey)")
                            try await Task.sleep(for: .milliseconds(10))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        while !isOver.hasCome { try await Task.sleep(for: .milliseconds(5)) }
        let end = ContinuousClock.now + .seconds(25)
        while try count() > 0, ContinuousClock.now < end { await outbox.flush(within: .seconds(1)) }
        acknowledging.cancel()
    }

    /// The number of entries in the folder.
    private func count() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: folder).count { $0.hasSuffix(".entry") }
    }

    private func note(_ line: String) { try? log.write(contentsOf: Data((line + "\n").utf8)) }

    private func fail(_ reason: String) {
        FileHandle.standardError.write(Data("\(name): \(reason)\n".utf8))
        exit(3)
    }
}
