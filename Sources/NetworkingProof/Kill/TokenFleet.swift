import Foundation
import Networking
import NetworkingTesting

/// Four processes that share a token, and the server that issues it.
final class TokenFleet {
    let size = 4
    let server: RotatingServer
    private let store: any AccessTokenStore
    private let arguments: [String]
    private var workers: [WorkerProcess]
    private var started = 0

    /// - Parameter place: The path or the URL at which the processes find the store.
    init(sharing store: any AccessTokenStore, at place: String) async throws {
        self.store = store
        server = try RotatingServer()
        _ = try await store.save(AccessToken("0", refreshToken: "0", session: UUID()), replacing: nil)
        arguments = [place, server.server.url.absoluteString]
        workers = []
        for _ in 0..<size { workers.append(try start()) }
    }

    /// Kills a process, checks the store, and starts another process.
    func replace(_ index: Int) async throws {
        for worker in workers where !worker.isRunning { server.add("\(worker.name) has ended unexpectedly") }
        workers[index].kill { server.noteDeath(of: workers[index].name) }
        await look()
        workers[index] = try start()
    }

    /// Lets all processes complete their calls and end.
    func finish() async throws {
        for worker in workers where !worker.finish() { server.add("\(worker.name) does not end its calls") }
        await look()
        server.server.stop()
    }

    private func start() throws -> WorkerProcess {
        started += 1
        return try WorkerProcess("process\(started)", arguments)
    }

    /// Checks that the store contains a complete token.
    private func look() async {
        do {
            if try await store.load() == nil { server.add("the token is missing") }
        } catch {
            server.add("the token cannot be read: \(error)")
        }
    }
}
