#if os(Linux)
    import Foundation
    import Networking

    /// Measures the rate of small responses over TLS.
    struct TLSBenchmark: Benchmark {
        let name = "tls"
        let explanation = "GET of 1 KiB JSON from nginx over TLS, with HTTP/1.1 and HTTP/2 (libcurl: not decoded)."

        func run(_ report: Report, isQuick: Bool) async throws {
            let nginx = try await NginxProcess(
                location: "default_type application/json; return 200 '\(Contact.sample.replacing("'", with: ""))';",
                requests: 10_000_000)
            let tls = TLSConfiguration(trust: .file(nginx.certificate))
            let target = nginx.url.appendingPathComponent("json")
            for (version, title) in [(CurlTransport.Configuration.HTTPVersions.http1, "HTTP/1.1"), (.http2, "HTTP/2")] {
                let curl = try CurlTransport(CurlTransport.Configuration(tls: tls, httpVersions: version))
                let service = PipelineSubject(nginx.url, on: curl).service
                let request = HTTPRequest(.get, target, headers: .benchmark)
                for concurrency in isQuick ? [64] : [1, 64] {
                    let libcurl = try BareLibcurl(
                        target, concurrency: concurrency, trusting: nginx.certificate, isHTTP2: version == .http2)
                    let subjects = [
                        Comparison.Subject(name: "pipeline-curl, \(title)") { calls in
                            try await atOnce(concurrency, calls: calls) {
                                let _: Contact = try await service.request(BenchmarkEndpoint.contact)
                            }
                        },
                        Comparison.Subject(name: "CurlTransport, \(title)") { calls in
                            try await atOnce(concurrency, calls: calls) {
                                _ = try await curl.send(request, delivering: .buffered(limit: 1 << 20))
                            }
                        },
                        Comparison.Subject(name: "libcurl, \(title)") { calls in
                            await onThread { libcurl.send(calls) }
                        },
                    ]
                    try await Comparison(
                        subjects, concurrency: concurrency, base: isQuick ? 500 : concurrency == 1 ? 3_000 : 12_000,
                        rounds: isQuick ? 2 : 6
                    ).add(to: report)
                }
            }
        }
    }
#endif
