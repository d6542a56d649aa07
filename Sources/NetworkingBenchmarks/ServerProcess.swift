#if os(Linux)
    import Foundation
    import Networking

    /// A running ``BenchmarkServer`` or ``TransferServer``.
    final class ServerProcess {
        /// The counts that the server reports.
        struct Counts: Decodable, Sendable {
            let served: Int
            let refused: Int
            let refreshes: Int
            let expiries: Int
            /// The connections that the server has accepted, including the one for this report.
            let connections: Int
        }

        let url: URL
        private let process = Process()
        private let input = Pipe()

        /// - Parameters:
        ///   - latency: The delay of the response to a request for an item, in milliseconds.
        ///   - lifetime: The lifetime of a token in milliseconds; 0 is unlimited.
        convenience init(latency: Int = 0, lifetime: Int = 0) throws {
            try self.init(["serve", "\(latency)", "\(lifetime)"])
        }

        /// Starts this program with other arguments, and reads the port that it prints.
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

        /// The processor time that the server has used, in seconds.
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
