#if os(Linux)
    import Foundation
    import Networking

    /// Measures a process that makes one call and ends.
    struct ColdBenchmark: Benchmark {
        let name = "cold"
        let explanation = "A process that makes one call and ends, compared with the same process without a call."

        /// The process: makes one call if there is an argument.
        static func run(_ arguments: [String]) async throws {
            if let url = arguments.first.flatMap(URL.init) {
                let service = PipelineSubject(url, on: try CurlTransport()).service
                let _: Contact = try await service.request(BenchmarkEndpoint.contact)
            }
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
            print(peak.filter(\.isNumber))
        }

        func run(_ report: Report, isQuick: Bool) async throws {
            let server = try ServerProcess()
            var times: [[Double]] = [[], []]
            var sizes: [[Double]] = [[], []]
            for _ in 0..<(isQuick ? 5 : 40) {
                for (index, arguments) in [["start"], ["start", server.url.absoluteString]].enumerated() {
                    let start = Latencies.now()
                    let output = try ColdBenchmark.output(of: arguments)
                    times[index].append(Double(Latencies.now() - start) / 1_000_000)
                    sizes[index].append(output / 1_024)
                }
            }
            for (index, subject) in ["no call", "one call"].enumerated() {
                report.add(
                    Row(
                        subject: subject, wall: times[index].median / 1_000,
                        note: String(
                            format: "%.1f ms more, %.1f MiB at most, %.1f MiB more",
                            times[index].median - times[0].median,
                            sizes[index].median, sizes[index].median - sizes[0].median)))
            }
        }

        /// Runs this program, and returns the number that it prints.
        private static func output(of arguments: [String]) throws -> Double {
            let (process, output) = (Process(), Pipe())
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = arguments
            process.standardOutput = output
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            guard process.terminationStatus == 0,
                let number = Double(text.trimmingCharacters(in: .whitespacesAndNewlines))
            else { throw URLError(.cannotParseResponse) }
            return number
        }
    }
#endif
