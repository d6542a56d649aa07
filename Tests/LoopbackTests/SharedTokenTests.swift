import Foundation
import Testing

extension Loopback {
    /// Processes that share a token and are killed at random: `NetworkingProof` stands beside the tests, and does it.
    @Suite("A token that processes share", .timeLimit(.minutes(2)))
    struct SharedTokenTests {
        /// The program beside the tests.
        private static var proof: URL? {
            let folder = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL.deletingLastPathComponent()
            let places = [folder, Bundle.main.bundleURL, Bundle.main.bundleURL.deletingLastPathComponent()]
            return places.map { $0.appending(path: "NetworkingProof") }
                .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        }

        private func prove(_ arguments: String...) throws {
            let process = Process()
            let proof: URL = try #require(Self.proof, "NetworkingProof is not there")
            process.executableURL = proof
            process.arguments = arguments
            let output = Pipe()
            (process.standardOutput, process.standardError) = (output, output)
            try process.run()
            // It ends by itself in seconds; one that hangs must not keep the tests for ever.
            let limit = DispatchWorkItem { process.terminate() }
            DispatchQueue.global().asyncAfter(deadline: .now() + 90, execute: limit)
            defer { limit.cancel() }
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, Comment(rawValue: text))
        }

        @Test("Ten kills: the token file is whole, no refresh token is used twice, and nothing is left beside it")
        func tokenFile() throws {
            try prove("kill", "token-file", "--count", "10")
        }

        @Test(
            "A token in etcd, 10 seconds, a process killed every two, etcd restarted: every call ends",
            .enabled(if: Tool.etcd.isExpected, Tool.etcd.comment))
        func etcd() throws {
            _ = try #require(Tool.etcd.path, Tool.etcd.comment)
            try prove("kill", "etcd", "--count", "10")
        }
    }
}
