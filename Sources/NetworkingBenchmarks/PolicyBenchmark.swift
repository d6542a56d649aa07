#if os(Linux)
    import Foundation
    import Networking

    /// Measures the additional cost of the policies when no call fails.
    struct PolicyBenchmark: Benchmark {
        let name = "policy"
        let explanation =
            "the pipeline over a stub that responds at once: with a limit alone, "
            + "with the defaults, with single policies, and with all of them."

        func run(_ report: Report, isQuick: Bool) async throws {
            guard let url = URL(string: "http://127.0.0.1:1/") else { return }
            let limit = ConcurrencyLimit(64, total: 256)
            func part(
                _ name: String, _ configure: (inout NetworkConfiguration) -> Void
            ) -> (String, PipelineSubject) {
                (name, PipelineSubject(url, on: InstantTransport(), configure: configure))
            }
            let subjects = [
                part("bare") { ($0.concurrencyLimit, $0.backoffGate) = (limit, nil) },
                part("default") { _ in },
                part("with breaker") { $0.circuitBreaker = CircuitBreaker() },
                part("with budget and retries") {
                    $0.retry = .standard
                    $0.retry?.budget = RetryPolicy.Budget()
                },
                part("with cookies") { $0.cookies = CookieJar() },
                part("with duplicates") { $0.duplicates = .always(.join) },
                part("everything") {
                    $0.concurrencyLimit = limit
                    $0.circuitBreaker = CircuitBreaker()
                    $0.retry = .standard
                    $0.retry?.budget = RetryPolicy.Budget()
                    $0.duplicates = .always(.join)
                    $0.cookies = CookieJar()
                },
            ]
            let taken = try await PipelineSubject.compare(subjects.map(\.1), isQuick: isQuick)
            for (index, subject) in subjects.enumerated() {
                report.add(
                    Row(
                        subject: subject.0, concurrency: 1, cpuMicrosecondsPerCall: taken[index].time,
                        note: String(
                            format: "%+.2f µs more than bare, %.2f times bare", taken[index].more,
                            1 + taken[index].more / taken[0].time)))
            }
        }
    }
#endif
