import Foundation
import Networking

/// `swift run -c release NetworkingBenchmarks [name…] [--json] [--quick] [--executor]`
@main
enum NetworkingBenchmarks {
    static func main() async throws {
        #if os(Linux)
            try await run(Array(CommandLine.arguments.dropFirst()))
        #else
            print("The benchmarks run only on Linux.")
        #endif
    }
}

#if os(Linux)

    extension NetworkingBenchmarks {
        private static let benchmarks: [any Benchmark] = [
            PipelineBenchmark(), ObserversBenchmark(), PolicyBenchmark(), GetBenchmark(), StormBenchmark(),
            RotationBenchmark(), PostBenchmark(), TLSBenchmark(), HostsBenchmark(), ColdBenchmark(),
            HangingBenchmark(), SoakBenchmark(), DownloadBenchmark(), UploadBenchmark(),
            KeyPathBenchmark(), CacheBenchmark(), ExactlyOnceBenchmark(), ChaosBenchmark(), SocketBenchmark(),
            OutboxBenchmark(),
        ]

        private static func run(_ arguments: [String]) async throws {
            if arguments.first == "serve" { return try BenchmarkServer(Array(arguments.dropFirst())).run() }
            if arguments.first == "serve-transfers" { return try TransferServer.run() }
            if arguments.first == "serve-sockets" { return try SocketServer.run() }
            if arguments.first == "serve-chaos" {
                return try ChaosProxy.run(Array(arguments.dropFirst()))
            }
            if arguments.first == "start" { return try await ColdBenchmark.run(Array(arguments.dropFirst())) }
            if arguments.first == "count" { return try await CountedCalls.run(Array(arguments.dropFirst())) }
            let options = Set(arguments.filter { $0.hasPrefix("--") })
            let names = arguments.filter { !$0.hasPrefix("--") }
            let known = benchmarks.map(\.name)
            let strange =
                names.filter { !known.contains($0) } + options.subtracting(["--json", "--quick", "--executor"])
            guard strange.isEmpty else {
                print(
                    "unknown arguments: \(strange.joined(separator: " ")). "
                        + "Benchmarks: \(known.joined(separator: " ")). Options: --json --quick --executor."
                )
                exit(2)
            }
            for variable in ["http_proxy", "https_proxy", "all_proxy"] { unsetenv(variable) }
            let report = Report(isJSON: options.contains("--json"))
            for benchmark in benchmarks where names.isEmpty || names.contains(benchmark.name) {
                report.begin(benchmark)
                try await withTaskExecutorPreference(isOnExecutor ? CurlTransport.shared?.executor : nil) {
                    try await benchmark.run(report, isQuick: options.contains("--quick"))
                }
            }
        }

        /// Whether the benchmarks run on the threads of the engine.
        private static var isOnExecutor: Bool { CommandLine.arguments.contains("--executor") }

        /// Returns a new transport, or the transport on whose threads the benchmarks run.
        static func makeTransport() throws -> CurlTransport {
            guard isOnExecutor, let shared = CurlTransport.shared else { return try CurlTransport() }
            return shared
        }
    }

    /// One measurement of speed or memory.
    protocol Benchmark: Sendable {
        var name: String { get }
        /// A description of what is measured, and how.
        var explanation: String { get }
        func run(_ report: Report, isQuick: Bool) async throws
    }
#endif
