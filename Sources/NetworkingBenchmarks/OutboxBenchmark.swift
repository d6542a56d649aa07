#if os(Linux)
    import Foundation
    import Networking
    import NetworkingOutbox

    /// Measures how long it takes to store a write in an outbox, and to send it.
    struct OutboxBenchmark: Benchmark {
        let name = "outbox"
        let explanation =
            "a write is stored behind 0, 100 and 1,000 entries that wait; stored, sent over a stub and acknowledged; "
            + "compared with a file of the same size that is brought to stable storage in the same way."

        func run(_ report: Report, isQuick: Bool) async throws {
            let writes = isQuick ? 50 : 500
            let folder = FileManager.default.temporaryDirectory.appending(path: "networking-outbox-\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let baseline = try Measurement.ofFiles(writes, in: folder)
            add("a file", baseline, over: baseline, to: report)
            for waiting in isQuick ? [0, 100] : [0, 100, 1_000] {
                let outbox = try outbox(in: folder.appending(path: "waiting-\(waiting)"), isOnline: false)
                for number in 0..<waiting { try await outbox.enqueue(Write(number: number), order: "a") }
                let measurement = try await Measurement.of {
                    for number in 0..<writes { try await outbox.enqueue(Write(number: number), order: "b") }
                    return writes
                }
                add("stored behind \(waiting)", measurement, over: baseline, to: report)
            }
            let outbox = try outbox(in: folder.appending(path: "sent"), isOnline: true)
            let changes = outbox.changes.values()
            let measurement = try await Measurement.of {
                for number in 0..<writes { try await outbox.enqueue(Write(number: number), order: "\(number % 8)") }
                var ends = 0
                for await entry in changes where entry.state.isEnd {
                    try await outbox.acknowledge(entry.id)
                    ends += 1
                    if ends == writes { break }
                }
                return writes
            }
            add("stored and sent", measurement, over: baseline, to: report)
        }

        private func add(_ subject: String, _ measurement: Measurement, over baseline: Measurement, to report: Report) {
            let ratio = measurement.wall / Double(measurement.calls) / (baseline.wall / Double(baseline.calls))
            report.add(
                Row(
                    subject: subject, concurrency: 1, cpuMicrosecondsPerCall: measurement.microsecondsPerCall,
                    callsPerSecond: measurement.callsPerSecond, wall: measurement.wall,
                    note: String(format: "%.1f times the time of a file", ratio)))
        }

        private func outbox(in folder: URL, isOnline: Bool) throws -> Outbox {
            let service = NetworkService(environment: NetworkEnvironment(baseURL: URL(string: "https://example.com"))) {
                $0.transport = isOnline ? InstantTransport() : OfflineTransport()
            }
            return try Outbox(for: service, in: folder, endpoints: [.init(Write.self, name: "write")])
        }
    }

    private struct Write: Endpoint, Codable {
        let number: Int
        var path: EndpointPath { "writes" }
        var method: HTTPMethod { .post }
        var body: HTTPBody { .json(["number": number]) }
    }

    /// A transport without a network.
    private struct OfflineTransport: Transport {
        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            throw NetworkError(.notConnected)
        }
    }

    extension Measurement {
        /// Writes files of 512 bytes under temporary names, brings them to stable storage, and renames them.
        fileprivate static func ofFiles(_ count: Int, in folder: URL) throws -> Measurement {
            let bytes = Data(repeating: 7, count: 512)
            let begun = (processorTime, ContinuousClock.now)
            for number in 0..<count {
                let path = folder.appending(path: "file-\(number)").path
                let file = open(path + ".new", O_WRONLY | O_CREAT | O_EXCL, 0o600)
                guard file >= 0, writeFile(file, bytes, at: 0), synchronizeFile(file), close(file) == 0,
                    rename(path + ".new", path) == 0
                else { throw CocoaError(.fileWriteUnknown) }
                try synchronizeFolder(of: path)
            }
            let wall = (ContinuousClock.now - begun.1) / .seconds(1)
            return Measurement(calls: count, wall: wall, processor: processorTime - begun.0)
        }
    }
#endif
