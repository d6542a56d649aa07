#if os(Linux)
    import Foundation
    import Networking

    /// Measures the cost of the pipeline without a network.
    struct PipelineBenchmark: Benchmark {
        let name = "pipeline"
        let explanation =
            "a call over a stub that responds at once: three adapters, token, limit, "
            + "two validators; the time of the stub is subtracted."

        func run(_ report: Report, isQuick: Bool) async throws {
            let url = URL(fileURLWithPath: "/")
            let target = URL(string: "http://127.0.0.1:1/json") ?? url
            let subject = PipelineSubject(target.deletingLastPathComponent(), on: InstantTransport())
            let stub: any Transport = InstantTransport()
            let request = HTTPRequest(.get, target)
            let calls = isQuick ? 2_000 : 20_000
            var journey: [Double] = []
            var bare: [Double] = []
            for _ in 0..<(isQuick ? 3 : 11) {
                bare.append(
                    try await Measurement.of {
                        for _ in 0..<calls { _ = try await stub.send(request, delivering: .buffered(limit: .max)) }
                        return calls
                    }.microsecondsPerCall)
                journey.append(
                    try await Measurement.of {
                        for _ in 0..<calls { try await subject.service.request(BenchmarkEndpoint.item(1)) as Void }
                        return calls
                    }.microsecondsPerCall)
            }
            report.add(Row(subject: "stub", concurrency: 1, cpuMicrosecondsPerCall: bare.median))
            report.add(Row(subject: "pipeline", concurrency: 1, cpuMicrosecondsPerCall: journey.median - bare.median))
        }
    }
#endif
