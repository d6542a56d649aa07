#if os(Linux)
    import Foundation
    import Networking

    /// What traffic policy costs on top of the journey, where nothing fails.
    struct PolicyBenchmark: Benchmark {
        let name = "policy"
        let explanation =
            "the journey over a stub that answers at once: with a limit alone, as it comes, and with all of traffic policy."

        func run(_ report: Report, isQuick: Bool) async throws {
            guard let url = URL(string: "http://127.0.0.1:1/") else { return }
            let limit = ConcurrencyLimit(64, total: 256)
            let everything = TrafficPolicy(
                limit: limit, circuitBreaker: CircuitBreaker(), retry: .standard, retryBudget: RetryBudget(),
                duplicates: .join, cookies: CookieJar())
            func part(_ name: String, _ change: (inout TrafficPolicy) -> Void) -> (String, PipelineSubject) {
                var policy = TrafficPolicy()
                change(&policy)
                return ("with \(name)", PipelineSubject(url, on: InstantTransport(), traffic: policy))
            }
            let subjects = [
                ("bare", PipelineSubject(url, on: InstantTransport(), limit: limit)),
                ("default", PipelineSubject(url, on: InstantTransport(), traffic: TrafficPolicy())),
                part("breaker") { $0.circuitBreaker = CircuitBreaker() },
                part("budget and retries") { ($0.retry, $0.retryBudget) = (.standard, RetryBudget()) },
                part("cookies") { $0.cookies = CookieJar() },
                part("duplicates") { $0.duplicates = .join },
                ("everything", PipelineSubject(url, on: InstantTransport(), traffic: everything)),
            ]
            let taken = try await PipelineSubject.compare(subjects.map(\.1), isQuick: isQuick)
            for (index, subject) in subjects.enumerated() {
                report.add(
                    Row(
                        subject: subject.0, concurrency: 1, cpuMicrosecondsPerCall: taken[index].time,
                        note: String(
                            format: "%+.2f µs over bare, %.2f of it", taken[index].more,
                            1 + taken[index].more / taken[0].time)))
            }
        }
    }
#endif
