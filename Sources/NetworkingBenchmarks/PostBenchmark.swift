#if os(Linux)
    import Foundation
    import Networking

    /// Measures the rate of small uploads.
    struct PostBenchmark: Benchmark {
        let name = "post"
        let explanation =
            "POST of 1 KiB JSON that is encoded for each call; the response of 1 KiB is decoded "
            + "(CurlTransport and libcurl: without encoding and decoding)."

        func run(_ report: Report, isQuick: Bool) async throws {
            let server = try ServerProcess()
            let curl = try NetworkingBenchmarks.makeTransport()
            let contact = try JSONDecoder().decode(Contact.self, from: Data(Contact.sample.utf8))
            let service = PipelineSubject(server.url, on: curl).service
            let target = server.url.appendingPathComponent("json")
            let request = HTTPRequest(.post, target, headers: .benchmark, body: .string(Contact.sample))
            for concurrency in isQuick ? [64] : [1, 64] {
                let libcurl = try BareLibcurl(target, concurrency: concurrency, body: Contact.sample)
                let subjects = [
                    Comparison.Subject(name: "pipeline-curl") { calls in
                        try await atOnce(concurrency, calls: calls) {
                            let _: Contact = try await service.request(ContactUpdate(contact: contact))
                        }
                    },
                    Comparison.Subject(name: "CurlTransport") { calls in
                        try await atOnce(concurrency, calls: calls) {
                            _ = try await curl.send(request, delivering: .buffered(limit: 1 << 20))
                        }
                    },
                    Comparison.Subject(name: "libcurl") { calls in await onThread { libcurl.send(calls) } },
                ]
                try await Comparison(
                    subjects, concurrency: concurrency, base: isQuick ? 500 : concurrency == 1 ? 3_000 : 12_000,
                    rounds: isQuick ? 2 : 6
                ).add(to: report)
            }
        }
    }
#endif
