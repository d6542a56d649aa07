#if os(Linux)
    import Foundation
    import Glibc
    import Networking
    import NetworkingTesting

    /// Kills downloading processes at random points, resumes their downloads, and checks that each file is correct.
    struct CutsBenchmark: Benchmark {
        let name = "cuts"
        let explanation =
            "200 downloads, each killed at a random point and resumed by another process: every file is correct."

        private struct Wrong: Error, CustomStringConvertible {
            let description: String
        }

        private static let size = 2_000_000

        func run(_ report: Report, isQuick: Bool) async throws {
            let server = try ServerProcess(["serve-transfers"])
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cuts-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            var random = SeededGenerator(seed: 7)
            let count = isQuick ? 20 : 200
            var kept = 0
            let start = ContinuousClock.now
            for number in 0..<count {
                let target = folder.appendingPathComponent("\(number)")
                let point = Int.random(in: 0..<CutsBenchmark.size, using: &random)
                kept += try cut(target, at: point, from: server.url(seed: 1))
                // In every fifth case the server's content has changed before the download is resumed.
                let seed = number % 5 == 4 ? 2 : 1
                let process = try download(target, from: server.url(seed: seed))
                process.waitUntilExit()
                guard process.terminationStatus == 0 else {
                    throw Wrong(description: "killed at byte \(point): the download was not completed")
                }
                guard try Data(contentsOf: target) == Pattern.bytes(CutsBenchmark.size, seed: seed) else {
                    throw Wrong(description: "killed at byte \(point): the content of the file is wrong")
                }
            }
            report.add(
                Row(
                    subject: "killed", wall: (ContinuousClock.now - start) / .seconds(1),
                    note: "\(count) correct files; on average, \(kept / count / 1_000) KB were stored before the kill"))
        }

        /// Kills a download once it has stored `point` bytes.
        ///
        /// - Returns: The number of bytes that the download had stored.
        private func cut(_ target: URL, at point: Int, from url: URL) throws -> Int {
            let process = try download(target, from: url)
            let destination = FileDestination(target, resuming: .sameAddress)
            while process.isRunning, destination.partialSize < point { usleep(100) }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            let isWhole = process.terminationReason == .exit && process.terminationStatus == 0
            guard isWhole || !FileManager.default.fileExists(atPath: target.path) else {
                guard try Data(contentsOf: target) == Pattern.bytes(CutsBenchmark.size, seed: 1) else {
                    throw Wrong(description: "killed at byte \(point): the target is an incomplete file")
                }
                return CutsBenchmark.size  // the process was killed after it had moved the file to the target
            }
            return Int(destination.partialSize)
        }

        private func download(_ target: URL, from url: URL) throws -> Process {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = ["download-to", url.absoluteString, target.path]
            try process.run()
            return process
        }
    }

    /// Pseudorandom bytes, so that a byte at a wrong position is noticed.
    enum Pattern {
        static func bytes(_ count: Int, seed: Int) -> Data {
            var bytes = Data(capacity: count + 8)
            var word = UInt64(seed)
            while bytes.count < count {
                word = word &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                withUnsafeBytes(of: word) { bytes.append(contentsOf: $0) }
            }
            return bytes.prefix(count)
        }
    }

    extension ServerProcess {
        fileprivate func url(seed: Int) -> URL {
            URL(string: "pattern?seed=\(seed)", relativeTo: url)?.absoluteURL ?? url
        }
    }
#endif
