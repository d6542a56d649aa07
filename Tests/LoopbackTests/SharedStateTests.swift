import Foundation
import Testing

#if os(Linux)  // because the tests of other systems run in a program that is not next to `NetworkingProof`
    extension Loopback {
        /// Processes share a token or a cache, and are killed at random. The program `NetworkingProof`, built next to
        /// the tests, starts and kills the processes.
        @Suite("A token and a cache shared by several processes")
        struct SharedStateTests {
            /// The URL of the program, which is in the folder of the tests or near it.
            private static var proof: URL? {
                let folder = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
                    .deletingLastPathComponent()
                let places = [folder, Bundle.main.bundleURL, Bundle.main.bundleURL.deletingLastPathComponent()]
                return places.map { $0.appending(path: "NetworkingProof") }
                    .first { FileManager.default.isExecutableFile(atPath: $0.path) }
            }

            private func prove(_ arguments: String...) throws {
                let process = Process()
                let proof: URL = try #require(Self.proof, "NetworkingProof was not found next to the tests")
                process.executableURL = proof
                process.arguments = arguments
                let output = Pipe()
                (process.standardOutput, process.standardError) = (output, output)
                try process.run()
                // The program ends within seconds. A program that hangs must not block the tests forever.
                let limit = DispatchWorkItem { process.terminate() }
                DispatchQueue.global().asyncAfter(deadline: .now() + 90, execute: limit)
                defer { limit.cancel() }
                let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                process.waitUntilExit()
                #expect(process.terminationStatus == 0, Comment(rawValue: text))
            }

            @Test(
                "After ten kills, the token file is intact, no refresh token was used twice, and no file is left"
            )
            func tokenFile() throws {
                try prove("kill", "token-file", "--count", "10")
            }

            @Test("After ten kills, a cache on disk has no wrong byte and has lost no response")
            func cache() throws {
                try prove("kill", "cache", "--count", "10")
            }

            @Test(
                "With a token in etcd, every call ends while processes are killed and etcd restarts",
                .enabled(if: Tool.etcd.isExpected, Tool.etcd.comment))
            func etcd() throws {
                _ = try #require(Tool.etcd.path, Tool.etcd.comment)
                try prove("kill", "etcd", "--count", "10")
            }
        }
    }
#endif
