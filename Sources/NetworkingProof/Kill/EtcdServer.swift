import Foundation
import Networking
import NetworkingTesting

/// An etcd server with one member, which stores its data in a folder of its own.
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

    /// Stops the server, and starts it again with its stored data.
    func restart() async throws {
        stop()
        try await start()
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// Starts the server, and waits until it is ready.
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

    /// Returns a URL with a port that was free a moment ago.
    private static func freeURL() throws -> URL {
        let server = try LoopbackServer()
        defer { server.stop() }
        return server.url
    }
}

extension URL {
    /// The URL without a slash at its end, as etcd requires.
    fileprivate var text: String { absoluteString.hasSuffix("/") ? String(absoluteString.dropLast()) : absoluteString }
}
