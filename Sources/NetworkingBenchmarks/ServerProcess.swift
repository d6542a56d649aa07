#if os(Linux)
    import Foundation
    import Networking

    /// A running ``BenchmarkServer``.
    final class ServerProcess {
        /// What happened at the server.
        struct Counts: Decodable, Sendable {
            let served: Int
            let refused: Int
            let refreshes: Int
            let expiries: Int
        }

        let url: URL
        private let process = Process()
        private let input = Pipe()

        /// - Parameters:
        ///   - latency: How many milliseconds an item takes.
        ///   - lifetime: How many milliseconds a token lives; 0 for ever.
        convenience init(latency: Int = 0, lifetime: Int = 0) throws {
            try self.init(["serve", "\(latency)", "\(lifetime)"])
        }

        /// Starts this program with other arguments; it prints its port.
        init(_ arguments: [String]) throws {
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = arguments
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            guard let url = URL(string: "http://127.0.0.1:\(line.trimmingCharacters(in: .whitespacesAndNewlines))/")
            else {
                throw URLError(.cannotConnectToHost)
            }
            self.url = url
        }

        func counts() async throws -> Counts {
            let request = HTTPRequest(.get, url.appendingPathComponent("counts"))
            let response = try await PlatformTransport.shared.send(request, delivering: .buffered(limit: 1 << 16))
            return try JSONDecoder().decode(Counts.self, from: response.data)
        }

        /// Seconds of processor time that the server has used.
        var processorTime: Double {
            let path = "/proc/\(process.processIdentifier)/stat"
            guard let text = try? String(contentsOfFile: path, encoding: .utf8), let end = text.lastIndex(of: ")")
            else {
                return 0
            }
            let fields = text[end...].split(separator: " ")
            return ((Double(fields[12]) ?? 0) + (Double(fields[13]) ?? 0)) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }

        deinit {
            input.fileHandleForWriting.closeFile()
            process.waitUntilExit()
        }
    }
#endif
