import Foundation
import Networking
import NetworkingTesting

/// Processes that share a token file are killed at random moments; what the others find is right.
struct KillCheck: Check {
    let name = "kill"
    private let processes = 4

    func run(_ report: Report, _ settings: ProofSettings) async throws {
        guard settings.includes("token-file") else { return }
        let begun = ContinuousClock.now
        let kills = settings.count ?? (settings.isQuick ? 20 : 200)
        let folder = FileManager.default.temporaryDirectory.appending(path: "networking-proof-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "token.json")
        let store = AccessTokenFile(file)
        _ = try store.save(AccessToken("0", refreshToken: "0", session: UUID()), replacing: nil)

        let server = try RotatingServer()
        defer { server.server.stop() }
        var random = SeededGenerator(seed: settings.seed)
        let arguments = [file.path, server.server.url.absoluteString]
        var workers = try (0..<processes).map { try WorkerProcess("first\($0)", arguments) }
        for number in 0..<kills where server.violations.isEmpty {
            try await Task.sleep(for: .milliseconds(Int.random(in: 5..<120, using: &random)))
            server.invalidate()
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<30_000, using: &random)))
            let victim = Int.random(in: 0..<processes, using: &random)
            server.noteDeath(of: workers[victim].name)
            workers[victim].kill()
            look(at: store, server)
            for worker in workers where worker.endedWith != nil { server.add("\(worker.name) has ended by itself") }
            workers[victim] = try WorkerProcess("after\(number)", arguments)
            if number % 50 == 49 { report.progress("kill token-file", since: begun, "\(number + 1) of \(kills) kills") }
        }
        for worker in workers { worker.kill() }
        look(at: store, server)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            !$0.hasPrefix("token.json")
        }
        let remains = left + [file.path + ".new"].filter { FileManager.default.fileExists(atPath: $0) }
        report.end(
            "kill token-file", since: begun,
            "\(kills) kills of \(processes) processes, \(server.rotations.grouped) refreshes, \(server.served.grouped) requests, "
                + "\(server.losses) killed between the server's rotation and the save",
            violations: server.violations + remains.map { "\($0) was left behind" })
    }

    /// The file is whole, whatever was killed.
    private func look(at store: AccessTokenFile, _ server: RotatingServer) {
        do {
            if try store.load() == nil { server.add("the token file is missing") }
        } catch {
            server.add("the token file cannot be read: \(error)")
        }
    }
}
