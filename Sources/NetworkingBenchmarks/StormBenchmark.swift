#if os(Linux)
    import Foundation
    import Networking

    /// Measures 1,000 concurrent calls with an expired token.
    struct StormBenchmark: Benchmark {
        let name = "storm"
        let explanation =
            "1,000 calls begin at once with an expired token, and 64 run at a time; a refresh takes 50 ms. "
            + "ideal: libcurl alone; 64 calls get a 401 and, after a refresh, 1,000 calls get a 200."

        func run(_ report: Report, isQuick: Bool) async throws {
            for latency in [10, 0] {
                report.say("the server takes \(latency) ms for each item")
                let curl = try NetworkingBenchmarks.makeTransport()
                let foundation = try URLSessionTransport()
                var walls: [[Double]] = [[], [], []]
                var notes = ["", "", ""]
                for _ in 0..<(isQuick ? 1 : 5) {
                    for (index, transport) in [curl as any Transport, foundation].enumerated() {
                        let (wall, note) = try await storm(latency, on: transport)
                        walls[index].append(wall)
                        notes[index] = note
                    }
                    walls[2].append(try await ideal(latency))
                }
                let ideal = walls[2].median
                for (index, subject) in ["pipeline-curl", "pipeline-urlsession", "ideal"].enumerated() {
                    let wall = walls[index].median
                    let note = String(format: "%.2f of ideal. ", wall / ideal) + notes[index]
                    report.add(
                        Row(subject: subject, concurrency: 1_000, callsPerSecond: 1_000 / wall, wall: wall, note: note))
                }
            }
        }

        private func storm(_ latency: Int, on transport: any Transport) async throws -> (Double, String) {
            let server = try ServerProcess(latency: latency)
            let subject = PipelineSubject(server.url, on: transport)
            let measurement = try await Measurement.of {
                try await atOnce(1_000, calls: 1_000) {
                    let _: Item = try await subject.service.request(BenchmarkEndpoint.item(1))
                }
                return 1_000
            }
            let counts = try await server.counts()
            return (
                measurement.wall,
                "refreshes \(counts.refreshes), 401s \(counts.refused), responses \(counts.served)"
            )
        }

        private func ideal(_ latency: Int) async throws -> Double {
            let server = try ServerProcess(latency: latency)
            let dead = try BareLibcurl(server.url.appendingPathComponent("items/1"), concurrency: 64)
            let live = try BareLibcurl(
                server.url.appendingPathComponent("items/1"), concurrency: 64,
                headers: BareLibcurl.headers.dropLast() + ["Authorization: Bearer token-1"])
            let grants = PipelineSubject(server.url, on: PlatformTransport.shared)
            return try await Measurement.of {
                _ = await onThread { dead.send(64) }
                let _: Grant = try await grants.service.request(BenchmarkEndpoint.refresh)
                _ = await onThread { live.send(1_000) }
                return 1_064
            }.wall
        }
    }
#endif
