#if os(Linux)
    import Foundation
    import Networking

    /// Measures what many hosts cost: names in the configuration, idle connections, and connections that are reused.
    struct HostsBenchmark: Benchmark {
        let name = "hosts"
        let explanation =
            "GET of 1 KiB from one of 1 or 1,000 configured names; hosts in turn, each with an idle connection; "
            + "the connections that the server accepted."

        func run(_ report: Report, isQuick: Bool) async throws {
            HangingBenchmark.allowDescriptors(4_000)
            try await names(report, isQuick)
            try await turns(report, isQuick)
            try await connections(report, isQuick)
        }

        /// A GET for a host, numbered from 0.
        private func request(_ host: Int, _ server: ServerProcess) throws -> HTTPRequest {
            guard let url = URL(string: "http://h\(host).example:\(server.url.port ?? 0)/json") else {
                throw URLError(.badURL)
            }
            return HTTPRequest(.get, url, headers: .benchmark)
        }

        private func transport(to hosts: Int, of server: ServerProcess, idle: Int = 256) throws -> CurlTransport {
            let names = (0..<hosts).map { ("h\($0).example:\(server.url.port ?? 0)", ["127.0.0.1"]) }
            var configuration = CurlTransport.Configuration(resolve: Dictionary(uniqueKeysWithValues: names))
            configuration.limits.idleConnections = idle
            return try CurlTransport(configuration)
        }

        private func names(_ report: Report, _ isQuick: Bool) async throws {
            let server = try ServerProcess()
            let request = try request(0, server)
            let subjects = try [1_000, 1].map { hosts in
                let transport = try transport(to: hosts, of: server)
                return Comparison.Subject(name: "\(hosts) names") { calls in
                    try await atOnce(64, calls: calls) {
                        _ = try await transport.send(request, delivering: .buffered(limit: 1 << 20))
                    }
                }
            }
            try await Comparison(
                subjects, concurrency: 64, base: isQuick ? 500 : 12_000, rounds: isQuick ? 2 : 6
            ).add(to: report)
        }

        /// Calls hosts one after another, in turn. Each host has one idle connection when its turn comes again.
        private func turns(_ report: Report, _ isQuick: Bool) async throws {
            for (hosts, idle) in [(250, 256), (1_000, 1_100)] {
                let server = try ServerProcess()
                let transport = try transport(to: hosts, of: server, idle: idle)
                let requests = try (0..<hosts).map { try request($0, server) }
                let measurement = try await Measurement.of {
                    let calls = (isQuick ? 2 : 12) * hosts
                    for number in 0..<calls {
                        _ = try await transport.send(requests[number % hosts], delivering: .buffered(limit: 1 << 20))
                    }
                    return calls
                }
                try await add("\(hosts) hosts in turn", measurement, 1, server, to: report)
            }
        }

        private func connections(_ report: Report, _ isQuick: Bool) async throws {
            let server = try ServerProcess()
            let transport = try CurlTransport()
            let request = HTTPRequest(.get, server.url.appendingPathComponent("json"), headers: .benchmark)
            let measurement = try await Measurement.of {
                let calls = isQuick ? 1_000 : 12_000
                try await atOnce(64, calls: calls) {
                    _ = try await transport.send(request, delivering: .buffered(limit: 1 << 20))
                }
                return calls
            }
            try await add("one host", measurement, 64, server, to: report)
        }

        private func add(
            _ subject: String, _ measurement: Measurement, _ concurrency: Int, _ server: ServerProcess,
            to report: Report
        ) async throws {
            let accepted = try await server.counts().connections - 1  // the request for the counts has its own
            report.add(
                Row(
                    subject: subject, concurrency: concurrency, cpuMicrosecondsPerCall: measurement.microsecondsPerCall,
                    callsPerSecond: measurement.callsPerSecond,
                    note: "\(accepted) connections for \(measurement.calls) calls"))
        }
    }
#endif
