#if os(Linux)
    import Foundation
    import Networking

    /// Measures the rate of small responses.
    struct GetBenchmark: Benchmark {
        let name = "get"
        let explanation = "GET of 1 KiB JSON from another process, decoded into ten fields (libcurl: not decoded)."

        private struct Subject {
            let name: String
            /// The calls of this subject in a round, as a fraction of the base number. Slow subjects make fewer calls.
            let share: Double
            let run: (_ calls: Int) async throws -> Void
        }

        func run(_ report: Report, isQuick: Bool) async throws {
            let server = try ServerProcess()
            let curl = try CurlTransport()
            let foundation = try URLSessionTransport()
            for concurrency in isQuick ? [1, 64] : [1, 8, 64, 256] {
                let subjects = try subjects(server.url, concurrency, curl, foundation)
                let base = isQuick ? 500 : concurrency == 1 ? 3_000 : 12_000
                var taken = Array(repeating: [Measurement](), count: subjects.count)
                let before = (server.processorTime, 0)
                var calls = 0
                for round in 0..<(isQuick ? 2 : 6) {
                    for (index, subject) in subjects.enumerated() {
                        let share = max(Int(Double(base) * subject.share), concurrency)
                        let measurement = try await Measurement.of {
                            try await subject.run(share)
                            return share
                        }
                        calls += share
                        // The first round warms up.
                        if round > 0 { taken[index].append(measurement) }
                    }
                }
                add(taken, subjects, concurrency, to: report)
                let perCall = (server.processorTime - before.0) / Double(calls) * 1_000_000
                report.say(
                    String(
                        format: "the server takes %.0f µs per call on one thread: its limit is %.0f calls/s", perCall,
                        1_000_000 / perCall))
            }
        }

        private func add(_ taken: [[Measurement]], _ subjects: [Subject], _ concurrency: Int, to report: Report) {
            let medians = taken.map {
                (cpu: $0.map(\.microsecondsPerCall).median, rate: $0.map(\.callsPerSecond).median)
            }
            for (subject, median) in zip(subjects, medians) {
                let note = String(
                    format: "cpu 1/%.1f of urlsession, %.2f of libcurl; %.1f times the calls of urlsession",
                    medians[0].cpu / median.cpu, median.cpu / medians[3].cpu, median.rate / medians[0].rate)
                report.add(
                    Row(
                        subject: subject.name, concurrency: concurrency, cpuMicrosecondsPerCall: median.cpu,
                        callsPerSecond: median.rate, note: note))
            }
        }

        private func subjects(
            _ url: URL, _ concurrency: Int, _ curl: CurlTransport, _ foundation: URLSessionTransport
        ) throws -> [Subject] {
            let target = url.appendingPathComponent("json")
            let bare = BareURLSession()
            let libcurl = try BareLibcurl(target, concurrency: concurrency)
            func journey(_ transport: any Transport) -> (Int) async throws -> Void {
                let service = PipelineSubject(url, on: transport).service
                return { calls in
                    try await atOnce(concurrency, calls: calls) {
                        let _: Contact = try await service.request(BenchmarkEndpoint.contact)
                    }
                }
            }
            return [
                Subject(name: "urlsession", share: 0.2) { calls in
                    try await atOnce(concurrency, calls: calls) {
                        _ = try JSONDecoder().decode(Contact.self, from: try await bare.data(from: target))
                    }
                },
                Subject(name: "pipeline-urlsession", share: 0.2, run: journey(foundation)),
                Subject(name: "pipeline-curl", share: 1, run: journey(curl)),
                Subject(name: "libcurl", share: 1) { calls in await onThread { libcurl.send(calls) } },
            ]
        }
    }

    /// Runs blocking work on a thread of its own.
    func onThread(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                body()
                continuation.resume()
            }
        }
    }
#endif
