#if os(Linux)
    import Foundation
    import Networking

    /// Makes calls one after another, so that `.ci/counts` can count what one call causes: allocations, locks, system
    /// calls and others. Example: `count transport 2000`.
    enum CountedCalls {
        static let subjects = ["libcurl", "decoder", "transport", "stub", "bytes", "decoded", "executor", "refreshed"]

        static func run(_ arguments: [String]) async throws {
            guard arguments.count == 2, let calls = Int(arguments[1]), subjects.contains(arguments[0]) else {
                throw URLError(.badURL)
            }
            let server = try ServerProcess()
            let call = try call(arguments[0], server.url)
            // Warm-up: opens the connection, and fills caches and lazy values.
            try await call(1_000)
            try await call(calls)
        }

        private static func call(_ subject: String, _ url: URL) throws -> (_ calls: Int) async throws -> Void {
            let target = url.appendingPathComponent("json")
            let transport: any Transport =
                switch subject {
                case "stub": InstantTransport()
                case "refreshed": OnceTransport()
                default: try CurlTransport()
                }
            let service = PipelineSubject(url, on: transport).service
            switch subject {
            case "libcurl":
                let libcurl = try BareLibcurl(target, concurrency: 1)
                return { calls in _ = await onThread { libcurl.send(calls) } }
            case "decoder":
                let data = try Data(contentsOf: target)
                return { calls in
                    for _ in 0..<calls { _ = try JSONDecoder().decode(Contact.self, from: data) }
                }
            case "transport":
                let request = HTTPRequest(.get, target, headers: .benchmark)
                return { calls in
                    for _ in 0..<calls { _ = try await transport.send(request, delivering: .buffered(limit: 1 << 20)) }
                }
            case "stub", "refreshed":
                return { calls in
                    for _ in 0..<calls { try await service.request(BenchmarkEndpoint.contact) as Void }
                }
            case "bytes":
                return { calls in
                    for _ in 0..<calls { _ = try await service.request(BenchmarkEndpoint.contact, as: .data) }
                }
            case "executor":
                let executor = (transport as? CurlTransport)?.executor
                return { calls in
                    try await withTaskExecutorPreference(executor) {
                        for _ in 0..<calls { let _: Contact = try await service.request(BenchmarkEndpoint.contact) }
                    }
                }
            default:
                return { calls in
                    for _ in 0..<calls { let _: Contact = try await service.request(BenchmarkEndpoint.contact) }
                }
            }
        }
    }
#endif
