#if os(Linux)
    import Foundation
    import Networking

    /// Measures whether calls leak memory.
    struct SoakBenchmark: Benchmark {
        let name = "soak"
        let explanation =
            "growth of resident memory after the first 10,000 calls, and in the second half of the remaining calls."

        func run(_ report: Report, isQuick: Bool) async throws {
            let server = try ServerProcess()
            let transport = try NetworkingBenchmarks.makeTransport()
            let json = HTTPRequest(.get, server.url.appendingPathComponent("json"))
            let hang = HTTPRequest(
                .get, server.url.appendingPathComponent("hang"), timeouts: HTTPRequest.Timeouts(idle: .milliseconds(2)))
            let patient = HTTPRequest(.get, server.url.appendingPathComponent("hang"))
            let refused = HTTPRequest(.get, URL(string: "http://127.0.0.1:1/") ?? server.url)
            let few = isQuick ? 2_000 : 120_000
            try await soak("sequential", isQuick ? 5_000 : 200_000, at: 1, report) {
                _ = try await transport.send(json, delivering: .buffered(limit: 1 << 20))
            }
            try await soak("cancelled", few, at: 16, report) {
                let call = Task { try await transport.send(patient, delivering: .buffered(limit: 1 << 20)) }
                try? await Task.sleep(for: .microseconds(200))
                call.cancel()
                _ = try? await call.value
            }
            try await soak("failed", few, at: 16, report) {
                _ = try? await transport.send(refused, delivering: .buffered(limit: 1 << 20))
            }
            try await soak("timed-out", few, at: 64, report) {
                _ = try? await transport.send(hang, delivering: .buffered(limit: 1 << 20))
            }
        }

        private func soak(
            _ subject: String, _ calls: Int, at concurrency: Int, _ report: Report,
            _ call: @escaping @Sendable () async throws -> Void
        ) async throws {
            let first = min(10_000, calls / 2)
            try await atOnce(concurrency, calls: first, call)
            let before = Measurement.residentKiB
            var middle = before
            let half = (calls - first) / 2
            let measurement = try await Measurement.of {
                try await atOnce(concurrency, calls: half, call)
                middle = Measurement.residentKiB
                try await atOnce(concurrency, calls: half, call)
                return 2 * half
            }
            report.add(
                Row(
                    subject: subject, concurrency: concurrency, cpuMicrosecondsPerCall: measurement.microsecondsPerCall,
                    wall: measurement.wall, residentGrowthKiB: Measurement.residentKiB - before,
                    note: "\(calls) calls; \(Measurement.residentKiB - middle) KiB in the second half")
            )
        }
    }
#endif
