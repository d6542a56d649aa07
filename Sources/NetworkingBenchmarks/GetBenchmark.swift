#if os(Linux)
    import Foundation
    import Networking

    /// Measures the rate of small responses.
    struct GetBenchmark: Benchmark {
        let name = "get"
        let explanation = "GET of 1 KiB JSON from another process, decoded into ten fields (libcurl: not decoded)."

        func run(_ report: Report, isQuick: Bool) async throws {
            let server = try ServerProcess()
            let curl = try CurlTransport()
            let foundation = try URLSessionTransport()
            for concurrency in isQuick ? [1, 64] : [1, 8, 64, 256] {
                let subjects = try subjects(server.url, concurrency, curl, foundation)
                let before = server.processorTime
                let comparison = try await Comparison(
                    subjects, concurrency: concurrency, base: isQuick ? 500 : concurrency == 1 ? 3_000 : 12_000,
                    rounds: isQuick ? 2 : 6)
                add(comparison, to: report)
                let speeds = comparison.speeds
                let perCall = (server.processorTime - before) / Double(comparison.calls) * 1_000_000
                report.say(
                    String(
                        format: "the server takes %.0f µs per call on one thread: its limit is %.0f calls/s; "
                            + "the reference loop took %.2f ms (%.2f to %.2f)",
                        perCall, 1_000_000 / perCall, speeds.median, speeds.min() ?? .nan, speeds.max() ?? .nan))
            }
        }

        private func add(_ comparison: Comparison, to report: Report) {
            let (session, libcurl) = (comparison.results[0], comparison.results[comparison.results.count - 1])
            for result in comparison.results {
                let note = String(format: "cpu 1/%.1f of urlsession; ", session.processor / result.processor)
                report.add(result.row(comparison.concurrency, note: note + result.ratios(to: libcurl)))
            }
        }

        private func subjects(
            _ url: URL, _ concurrency: Int, _ curl: CurlTransport, _ foundation: URLSessionTransport
        ) throws -> [Comparison.Subject] {
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
                Comparison.Subject(name: "urlsession", share: 0.2) { calls in
                    try await atOnce(concurrency, calls: calls) {
                        _ = try JSONDecoder().decode(Contact.self, from: try await bare.data(from: target))
                    }
                },
                Comparison.Subject(name: "pipeline-urlsession", share: 0.2, run: journey(foundation)),
                Comparison.Subject(name: "pipeline-curl", run: journey(curl)),
                Comparison.Subject(name: "pipeline-curl, bytes") { calls in
                    try await atOnce(concurrency, calls: calls) {
                        _ = try await bytes.request(BenchmarkEndpoint.contact, as: .data)
                    }
                },
                Comparison.Subject(name: "CurlTransport") { calls in
                    try await atOnce(concurrency, calls: calls) {
                        _ = try await curl.send(request, delivering: .buffered(limit: 1 << 20))
                    }
                },
                Comparison.Subject(name: "pipeline-curl on its executor") { calls in
                    try await withTaskExecutorPreference(executor) {
                        try await atOnce(concurrency, calls: calls) {
                            let _: Contact = try await service.request(BenchmarkEndpoint.contact)
                        }
                    }
                },
                Comparison.Subject(name: "CurlTransport on its executor") { calls in
                    try await withTaskExecutorPreference(executor) {
                        try await atOnce(concurrency, calls: calls) {
                            _ = try await curl.send(request, delivering: .buffered(limit: 1 << 20))
                        }
                    }
                },
                Comparison.Subject(name: "libcurl") { calls in await onThread { libcurl.send(calls) } },
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
