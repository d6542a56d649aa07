import Foundation
import Networking
import NetworkingTesting

/// etcd with one member, in a folder of its own.
final class EtcdServer {
    let url: URL
    private let arguments: [String]
    private let program: URL
    private var process = Process()

    /// - Returns: Nil if etcd is not installed.
    init?(in folder: URL) async throws {
        let places = ["/usr/bin/etcd", "/usr/local/bin/etcd"]
        guard let program = places.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            return nil
        }
        self.program = URL(fileURLWithPath: program)
        let (clients, peers) = (try Self.freeURL(), try Self.freeURL())
        url = clients
        arguments = [
            "--name", "one", "--data-dir", folder.path, "--listen-client-urls", clients.text, "--advertise-client-urls",
            clients.text, "--listen-peer-urls", peers.text, "--initial-advertise-peer-urls", peers.text,
            "--initial-cluster", "one=\(peers.text)", "--logger", "zap", "--log-level", "error", "--heartbeat-interval",
            "20", "--election-timeout", "100",
        ]
        try await start()
    }

    /// Ends it, and starts it again with what it has stored.
    func restart() async throws {
        stop()
        try await start()
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// Starts it, and waits until it is ready.
    private func start() async throws {
        process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let service = NetworkService(environment: NetworkEnvironment(baseURL: url))
        for _ in 0..<300 {
            let health = try? await service.request(.get("health"), as: .json(JSONValue.self))
            if health?["health"]?.string == "true" { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw NotReady()
    }

    private struct NotReady: Error {}

    /// A URL whose port was free a moment ago.
    private static func freeURL() throws -> URL {
        let server = try LoopbackServer()
        defer { server.stop() }
        return server.url
    }
}

extension URL {
    /// Without a slash at the end, as etcd wants it.
    fileprivate var text: String { absoluteString.hasSuffix("/") ? String(absoluteString.dropLast()) : absoluteString }
}
