#if os(Linux)
    import Foundation
    import Networking

    /// Measures calls with a token that expires again and again.
    struct RotationBenchmark: Benchmark {
        let name = "rotation"
        let explanation = "64 callers for 5 s (1 s with --quick); a token is valid for 200 ms, a refresh takes 50 ms."

        func run(_ report: Report, isQuick: Bool) async throws {
            var answers: [Int] = []
            for (subject, transport) in [
                ("pipeline-curl", try CurlTransport() as any Transport),
                ("pipeline-urlsession", try URLSessionTransport()),
            ] {
                let server = try ServerProcess(lifetime: 200)
                let journey = PipelineSubject(server.url, on: transport)
                let seconds = isQuick ? 1 : 5
                let tally = Tally()
                let measurement = await Measurement.of {
                    let end = ContinuousClock.now + .seconds(seconds)
                    await withTaskGroup(of: Void.self) { group in
                        for _ in 0..<64 {
                            group.addTask {
                                while ContinuousClock.now < end {
                                    do {
                                        let _: Item = try await journey.service.request(BenchmarkEndpoint.item(1))
                                        tally.add(answered: true)
                                    } catch {
                                        tally.add(answered: false)
                                    }
                                }
                            }
                        }
                    }
                    return max(tally.answered, 1)
                }
                answers.append(tally.answered)
                let counts = try await server.counts()
                report.add(
                    Row(
                        subject: subject, concurrency: 64, cpuMicrosecondsPerCall: measurement.microsecondsPerCall,
                        callsPerSecond: measurement.callsPerSecond, wall: measurement.wall,
                        note:
                            "responses \(tally.answered), failed \(tally.failed), "
                            + "refreshes \(counts.refreshes), expiries \(counts.expiries)"
                    ))
            }
            report.say(
                String(
                    format: "responses: curl %.1f times URLSession", Double(answers[0]) / Double(max(answers[1], 1)))
            )
        }

        private final class Tally: @unchecked Sendable {  // because of the lock around every variable
            private let lock = NSLock()
            private var counts = (answered: 0, failed: 0)

            func add(answered: Bool) {
                lock.withLock { if answered { counts.answered += 1 } else { counts.failed += 1 } }
            }

            var answered: Int { lock.withLock { counts.answered } }
            var failed: Int { lock.withLock { counts.failed } }
        }
    }
#endif
