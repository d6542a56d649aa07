#if os(Linux)
    import Foundation
    import Networking

    /// Measures calls that wait for a response.
    struct HangingBenchmark: Benchmark {
        let name = "hanging"
        let explanation =
            "5,000 calls in progress: on the transport, in the pipeline, or waiting for a permit; the processor time "
            + "while they wait, their memory, and the time to cancel all of them."

        func run(_ report: Report, isQuick: Bool) async throws {
            let count = isQuick ? 500 : 5_000
            HangingBenchmark.allowDescriptors(2 * count + 1_000)
            let server = try ServerProcess()
            let transport = try NetworkingBenchmarks.makeTransport()
            let request = HTTPRequest(
                .get, server.url.appendingPathComponent("hang"), timeouts: HTTPRequest.Timeouts(idle: .seconds(300)))
            let json = HTTPRequest(.get, server.url.appendingPathComponent("json"))
            _ = try await transport.send(json, delivering: .buffered(limit: 1 << 20))
            try await measure("CurlTransport", count, report, isQuick) {
                _ = try await transport.send(request, delivering: .buffered(limit: 1 << 20))
            }
            func service(_ limit: Int) throws -> NetworkService {
                let transport = try NetworkingBenchmarks.makeTransport()
                return PipelineSubject(server.url, on: transport) {
                    $0.concurrencyLimit = ConcurrencyLimit(limit)
                    $0.settings.timeouts.idle = .seconds(300)
                }.service
            }
            for (name, limit) in [("pipeline-curl", count), ("waiting for a permit", 1)] {
                let service = try service(limit)
                try await service.request(.get("json")) as Void
                try await measure(name, count, report, isQuick) { try await service.request(.get("hang")) as Void }
            }
        }

        private func measure(
            _ subject: String, _ count: Int, _ report: Report, _ isQuick: Bool,
            _ call: @escaping @Sendable () async throws -> Void
        ) async throws {
            let before = Measurement.residentKiB
            let calls = (0..<count).map { _ in
                Task { () -> Bool in
                    do {
                        try await call()
                        return false
                    } catch {
                        let kind = (error as? NetworkError)?.kind ?? (error as? GeneralRequestError)?.cause?.kind
                        return kind == .cancelled
                    }
                }
            }
            try await Task.sleep(for: .seconds(isQuick ? 1 : 3))
            let growth = Measurement.residentKiB - before
            let seconds = isQuick ? 1 : 5
            let idle = try await Measurement.of {
                try await Task.sleep(for: .seconds(seconds))
                return count
            }
            var cancelled = 0
            let ending = await Measurement.of {
                for call in calls { call.cancel() }
                for call in calls where await call.value { cancelled += 1 }
                return count
            }
            report.add(
                Row(
                    subject: subject, concurrency: count, wall: ending.wall, residentGrowthKiB: growth,
                    note: String(
                        format: "%.2f %% of a core, %.1f KiB each; %d of %d cancelled and completed within %.0f ms",
                        idle.processor / idle.wall * 100, Double(growth) / Double(count), cancelled, count,
                        ending.wall * 1_000)))
        }

        static func allowDescriptors(_ count: Int) {
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = max(limit.rlim_cur, min(rlim_t(count), limit.rlim_max))
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
    }
#endif
