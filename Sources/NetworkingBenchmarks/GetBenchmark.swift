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
            let run: (_ calls: Int) async throws -> Latencies
        }

        /// The measurements of one subject in all rounds but the first.
        private struct Result {
            var rounds: [Measurement] = []
            var latencies = Latencies()

            var processor: Double { rounds.map(\.microsecondsPerCall).median }
            var rate: Double { rounds.map(\.callsPerSecond).median }
        }

        func run(_ report: Report, isQuick: Bool) async throws {
            let server = try ServerProcess()
            let curl = try CurlTransport()
            let foundation = try URLSessionTransport()
            for concurrency in isQuick ? [1, 64] : [1, 8, 64, 256] {
                let subjects = try subjects(server.url, concurrency, curl, foundation)
                let base = isQuick ? 500 : concurrency == 1 ? 3_000 : 12_000
                var results = Array(repeating: Result(), count: subjects.count)
                var speeds: [Double] = []
                let before = server.processorTime
                var calls = 0
                for round in 0..<(isQuick ? 2 : 6) {
                    speeds.append(Measurement.referenceTime())
                    for (index, subject) in subjects.enumerated() {
                        let share = max(Int(Double(base) * subject.share), concurrency)
                        var latencies = Latencies()
                        let measurement = try await Measurement.of {
                            latencies = try await subject.run(share)
                            return share
                        }
                        calls += share
                        guard round > 0 else { continue }  // the first round warms up
                        results[index].rounds.append(measurement)
                        results[index].latencies.add(latencies)
                    }
                }
                add(results, subjects, concurrency, to: report)
                let perCall = (server.processorTime - before) / Double(calls) * 1_000_000
                report.say(
                    String(
                        format: "the server takes %.0f µs per call on one thread: its limit is %.0f calls/s; "
                            + "the reference loop took %.2f ms (%.2f to %.2f)",
                        perCall, 1_000_000 / perCall, speeds.median, speeds.min() ?? .nan, speeds.max() ?? .nan))
            }
        }

        private func add(_ results: [Result], _ subjects: [Subject], _ concurrency: Int, to report: Report) {
            let (session, libcurl) = (results[0], results[results.count - 1])
            for (subject, result) in zip(subjects, results) {
                let p99 = result.latencies.percentile(0.99)
                let note = String(
                    format: "cpu 1/%.1f of urlsession; relative to libcurl: cpu %.2f, calls %.2f, p99 %.2f",
                    session.processor / result.processor, result.processor / libcurl.processor,
                    result.rate / libcurl.rate, p99 / libcurl.latencies.percentile(0.99))
                report.add(
                    Row(
                        subject: subject.name, concurrency: concurrency, cpuMicrosecondsPerCall: result.processor,
                        callsPerSecond: result.rate, p50: result.latencies.percentile(0.5), p99: p99, note: note))
            }
        }

        private func subjects(
            _ url: URL, _ concurrency: Int, _ curl: CurlTransport, _ foundation: URLSessionTransport
        ) throws -> [Subject] {
            let target = url.appendingPathComponent("json")
            let bare = BareURLSession()
            let libcurl = try BareLibcurl(target, concurrency: concurrency)
            let request = HTTPRequest(.get, target, headers: .benchmark)
            func journey(_ transport: any Transport) -> (Int) async throws -> Latencies {
                let service = PipelineSubject(url, on: transport).service
                return { calls in
                    try await atOnce(concurrency, calls: calls) {
                        let _: Contact = try await service.request(BenchmarkEndpoint.contact)
                    }
                }
            }
            let executor = curl.executor
            let service = PipelineSubject(url, on: curl).service
            let bytes = PipelineSubject(url, on: curl).service
            return [
                Subject(name: "urlsession", share: 0.2) { calls in
                    try await atOnce(concurrency, calls: calls) {
                        _ = try JSONDecoder().decode(Contact.self, from: try await bare.data(from: target))
                    }
                },
                Subject(name: "pipeline-urlsession", share: 0.2, run: journey(foundation)),
                Subject(name: "pipeline-curl", share: 1, run: journey(curl)),
                Subject(name: "pipeline-curl, bytes", share: 1) { calls in
                    try await atOnce(concurrency, calls: calls) {
                        _ = try await bytes.request(BenchmarkEndpoint.contact, as: .data)
                    }
                },
                Subject(name: "CurlTransport", share: 1) { calls in
                    try await atOnce(concurrency, calls: calls) {
                        _ = try await curl.send(request, delivering: .buffered(limit: 1 << 20))
                    }
                },
                Subject(name: "pipeline-curl on its executor", share: 1) { calls in
                    try await withTaskExecutorPreference(executor) {
                        try await atOnce(concurrency, calls: calls) {
                            let _: Contact = try await service.request(BenchmarkEndpoint.contact)
                        }
                    }
                },
                Subject(name: "CurlTransport on its executor", share: 1) { calls in
                    try await withTaskExecutorPreference(executor) {
                        try await atOnce(concurrency, calls: calls) {
                            _ = try await curl.send(request, delivering: .buffered(limit: 1 << 20))
                        }
                    }
                },
                Subject(name: "libcurl", share: 1) { calls in await onThread { libcurl.send(calls) } },
            ]
        }
    }

    extension HTTPHeaders {
        /// The fields that the pipeline sends, for subjects without a pipeline.
        static let benchmark = HTTPHeaders(
            BareLibcurl.headers.map { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                return HTTPHeader(HTTPHeader.Name(String(parts[0])), parts[1].trimmingCharacters(in: .whitespaces))
            })
    }

    /// Runs blocking work on a thread of its own.
    func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
#endif
