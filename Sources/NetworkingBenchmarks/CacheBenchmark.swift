#if os(Linux)
    import Foundation
    import FoundationNetworking
    import Networking

    /// Measures calls whose responses come from a cache, and the cost of the cache for the other calls.
    struct CacheBenchmark: Benchmark {
        let name = "cache"
        let explanation =
            "the pipeline over a stub that responds at once: without a cache, with a cache in memory or on disk; hits "
            + "among 1, 100 and 10,000 entries, validations, misses; and a lookup in URLCache."

        func run(_ report: Report, isQuick: Bool) async throws {
            let rounds = isQuick ? 5 : 41
            let calls = isQuick ? 500 : 2_000
            let next = Counter()
            var subjects = [Subject("no cache", service(nil, "max-age=3600")) { _ in 1 }]
            for entries in [1, 100, 10_000] {
                let service = service(ResponseCache(capacity: 256 << 20), "max-age=3600")
                for id in 0..<entries { try await service.request(BenchmarkEndpoint.item(id)) as Void }
                subjects.append(Subject("hit, \(entries) entries", service) { $0 % entries })
            }
            let folder = FileManager.default.temporaryDirectory.appending(path: "networking-cache-\(UUID())")
            defer { try? FileManager.default.removeItem(at: folder) }
            func disk(_ name: String) throws -> ResponseCache {
                try ResponseCache(directory: folder.appending(path: name), capacity: 512 << 20, storesCredentials: true)
            }
            for entries in isQuick ? [1, 100] : [1, 100, 10_000] {
                let service = service(try disk("\(entries)"), "max-age=3600")
                for id in 0..<entries { try await service.request(BenchmarkEndpoint.item(id)) as Void }
                subjects.append(Subject("hit on disk, \(entries) entries", service) { $0 % entries })
            }
            subjects += [
                Subject("validation on disk", service(try disk("validation"), "no-cache")) { _ in 1 },
                Subject("miss, stored on disk", service(try disk("stored"), "max-age=3600")) { _ in next.increment() },
                Subject("validation", service(ResponseCache(), "no-cache")) { _ in 1 },
                Subject("miss, not stored", service(ResponseCache(), "no-store")) { _ in 1 },
                Subject("miss, stored, 4 MiB", service(ResponseCache(capacity: 4 << 20), "max-age=3600")) { _ in
                    next.increment()
                },
            ]
            let times = try await times(of: subjects, rounds, calls)
            for (index, subject) in subjects.enumerated() {
                let more = zip(times[index], times[0]).map { $0 - $1 }.median
                report.add(
                    Row(
                        subject: subject.name, concurrency: 1, cpuMicrosecondsPerCall: times[index].median,
                        note: String(format: "%+.2f µs more than no cache", more)))
            }
            addFoundation(report, rounds, calls)
        }

        /// Returns the times of each subject. The subjects run in turn, in short rounds, because the speed of a shared
        /// machine changes during a run.
        private func times(of subjects: [Subject], _ rounds: Int, _ calls: Int) async throws -> [[Double]] {
            var times = subjects.map { _ in [Double]() }
            for _ in 0..<rounds {
                for (index, subject) in subjects.enumerated() {
                    times[index].append(
                        try await Measurement.of {
                            for call in 0..<calls {
                                try await subject.service.request(BenchmarkEndpoint.item(subject.id(call))) as Void
                            }
                            return calls
                        }.microsecondsPerCall)
                }
            }
            return times
        }

        private struct Subject {
            let name: String
            let service: NetworkService
            /// Returns the item that a call requests.
            let id: (Int) -> Int

            init(_ name: String, _ service: NetworkService, _ id: @escaping (Int) -> Int) {
                (self.name, self.service, self.id) = (name, service, id)
            }
        }

        private func service(_ cache: ResponseCache?, _ cacheControl: String) -> NetworkService {
            let url = URL(string: "http://127.0.0.1:1/") ?? URL(fileURLWithPath: "/")
            return PipelineSubject(url, on: TaggedTransport(cacheControl: cacheControl)) { $0.cache = cache }.service
        }

        /// Measures only a lookup in Foundation's cache, not a whole call.
        private func addFoundation(_ report: Report, _ rounds: Int, _ calls: Int) {
            guard let url = URL(string: "http://127.0.0.1:1/items/1"),
                let response = HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: "HTTP/1.1",
                    headerFields: ["Cache-Control": "max-age=3600", "Content-Type": "application/json"])
            else { return }
            let cache = URLCache(memoryCapacity: 16 << 20, diskCapacity: 0, diskPath: nil)
            let request = URLRequest(url: url)
            cache.storeCachedResponse(CachedURLResponse(response: response, data: Data("{}".utf8)), for: request)
            var times: [Double] = []
            for _ in 0..<rounds {
                times.append(
                    Measurement.ofWork {
                        for _ in 0..<calls { _ = cache.cachedResponse(for: request) }
                        return calls
                    }.microsecondsPerCall)
            }
            let found = cache.cachedResponse(for: request) == nil ? "finds nothing" : "the lookup alone"
            report.add(Row(subject: "URLCache", concurrency: 1, cpuMicrosecondsPerCall: times.median, note: found))
        }
    }

    /// A transport that responds at once. Its responses have an entity tag. It confirms this tag with a 304 response.
    private struct TaggedTransport: Transport {
        let cacheControl: String

        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            let headers: HTTPHeaders = [
                .contentType: "application/json", .cacheControl: cacheControl, .eTag: "\"1\"",
            ]
            guard request.headers[.ifNoneMatch] == nil else {
                return HTTPResponse(.notModified, headers: headers, to: request)
            }
            return HTTPResponse(.ok, headers: headers, content: .data(Data("{}".utf8)), to: request)
        }
    }

    /// A counter for identifiers that do not repeat.
    private final class Counter {
        private var value = 0

        func increment() -> Int {
            value += 1
            return value
        }
    }
#endif
