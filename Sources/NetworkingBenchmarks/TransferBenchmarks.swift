#if os(Linux)
    import Foundation
    import Networking

    /// Measures the speed and the memory use of a large download into a file.
    struct DownloadBenchmark: Benchmark {
        let name = "download"
        let explanation = "1 GiB into a file on loopback: the pipeline and the curl program, alternating."

        func run(_ report: Report, isQuick: Bool) async throws {
            let bench = try TransferBench(isQuick: isQuick)
            let url = bench.server.url
            let service = NetworkService(environment: NetworkEnvironment(baseURL: url))
            let target = bench.folder.appendingPathComponent("download")
            try await bench.race(report) {
                _ = try await service.request(
                    TransferEndpoint(path: "\(bench.size)"), as: .file(at: target, overwriting: .replace))
                return nil
            } against: {
                ["-s", "-o", target.path, url.appendingPathComponent("\(bench.size)").absoluteString]
            }
        }
    }

    /// Measures the speed and the memory use of a large multipart upload from a file, and the time to its first byte.
    struct UploadBenchmark: Benchmark {
        let name = "upload"
        let explanation =
            "1 GiB from a file on loopback: as a multipart form, the pipeline and the curl program, alternating; and as it "
            + "is, plain and as an upload that goes on after an interruption (tus), alternating."

        func run(_ report: Report, isQuick: Bool) async throws {
            let bench = try TransferBench(isQuick: isQuick)
            let url = bench.server.url
            let service = NetworkService(environment: NetworkEnvironment(baseURL: url))
            let source = bench.folder.appendingPathComponent("source")
            try bench.write(source)
            try await bench.race(report) {
                let start = TransferServer.now
                let first: String = try await service.request(
                    TransferEndpoint(path: "sink", body: .multipart([.file("film", at: source)])))
                return Double((UInt64(first) ?? .max) - start) / 1_000_000
            } against: {
                ["-s", "-o", "/dev/null", "-F", "film=@\(source.path)", "-H", "Expect:", url.absoluteString]
            }
            try await bench.compare(report) { isResumable in
                let body = isResumable ? HTTPBody.file(source).resumable(.tus) : .file(source)
                _ = try await service.request(TransferEndpoint(path: "tus", body: body), as: .data)
            }
        }
    }

    private struct TransferEndpoint: Endpoint {
        var path: EndpointPath
        var body: HTTPBody = .empty
        var method: HTTPMethod { body.isEmpty ? .get : .post }
    }

    /// The parts that both benchmarks share: a server, a folder, and alternating rounds.
    private final class TransferBench {
        let server: ServerProcess
        let folder: URL
        let size: Int
        private let rounds: Int

        init(isQuick: Bool) throws {
            server = try ServerProcess(["serve-transfers"])
            size = isQuick ? 64 << 20 : 1 << 30
            rounds = isQuick ? 3 : 5
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("bench-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        deinit {
            try? FileManager.default.removeItem(at: folder)
        }

        func write(_ url: URL) throws {
            try Data().write(to: url)
            let file = try FileHandle(forWritingTo: url)
            let piece = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            for _ in 0..<(size >> 20) { try file.write(contentsOf: piece) }
            try file.close()
        }

        /// Runs `ours` and the curl program alternately, and reports the medians.
        ///
        /// - Parameter ours: Returns the time to the first byte in milliseconds, or nil if it is not measured.
        func race(
            _ report: Report, ours: () async throws -> Double?, against curl: () -> [String]
        ) async throws {
            var walls = [[Double]](repeating: [], count: 2)
            var processor: [Double] = []
            var firstBytes: [Double] = []
            var growth = 0
            for round in 0...rounds {
                let before = Measurement.residentKiB
                Measurement.forgetPeak()
                let measured = try await Measurement.of {
                    if let first = try await ours() { firstBytes.append(first) }
                    return 1
                }
                let grown = Measurement.peakResidentKiB - before
                let start = ContinuousClock.now
                let hasCurl = try run(curl())
                let wall = (ContinuousClock.now - start) / .seconds(1)
                guard round > 0 else { continue }  // the first round only warms up
                growth = max(growth, grown)
                walls[0].append(measured.wall)
                processor.append(measured.processor)
                if hasCurl { walls[1].append(wall) }
            }
            let ratio = walls[1].isEmpty ? nil : walls[1].median / walls[0].median
            let first = firstBytes.isEmpty ? "" : String(format: ", first byte after %.1f ms", firstBytes.median)
            report.add(
                Row(
                    subject: "pipeline-curl", cpuMicrosecondsPerCall: processor.median * 1_000_000,
                    wall: walls[0].median,
                    residentGrowthKiB: growth,
                    note: rate(walls[0].median) + (ratio.map { String(format: ", %.2f × curl", $0) } ?? "") + first))
            guard !walls[1].isEmpty else { return report.say("The curl program is not installed: no comparison.") }
            report.add(Row(subject: "curl", wall: walls[1].median, note: rate(walls[1].median)))
        }

        /// Sends the file alternately as a plain upload and as a resumable upload, and reports the medians.
        func compare(_ report: Report, _ send: (_ isResumable: Bool) async throws -> Void) async throws {
            var walls = [[Double]](repeating: [], count: 2)
            var growths = [0, 0]
            for round in 0...rounds {
                for index in 0..<2 {
                    let before = Measurement.residentKiB
                    Measurement.forgetPeak()
                    let measured = try await Measurement.of {
                        try await send(index == 1)
                        return 1
                    }
                    guard round > 0 else { continue }
                    walls[index].append(measured.wall)
                    growths[index] = max(growths[index], Measurement.peakResidentKiB - before)
                }
            }
            for (index, subject) in ["plain file", "resumable file"].enumerated() {
                let ratio = String(format: ", %.2f × the rate of the plain file", walls[0].median / walls[index].median)
                report.add(
                    Row(
                        subject: subject, wall: walls[index].median, residentGrowthKiB: growths[index],
                        note: rate(walls[index].median) + (index == 1 ? ratio : "")))
            }
        }

        private func rate(_ wall: Double) -> String {
            String(format: "%.0f MiB/s", Double(size) / wall / 1_048_576)
        }

        private func run(_ arguments: [String]) throws -> Bool {
            guard FileManager.default.isExecutableFile(atPath: "/usr/bin/curl") else { return false }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
            process.arguments = arguments
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus == 0
        }
    }

    extension Measurement {
        /// The largest resident memory of this process since the last call of `forgetPeak`, in KiB.
        static var peakResidentKiB: Int {
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        }

        static func forgetPeak() {
            try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        }
    }
#endif
