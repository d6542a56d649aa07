import ExampleEtcd
import Foundation
import Networking
import NetworkingTesting

/// At random moments, kills processes that share a token, a cache on disk, the target of a download, the file of an
/// upload, or an outbox.
/// Checks that the other processes find a correct token, that every call ends, that the cache contains each stored
/// response with the correct bytes, that the target is always a complete file, and that no stored write is lost or sent
/// again without a reason.
struct KillCheck: Check {
    let name = "kill"
    let parts = ["token-file", "etcd", "cache", "full-cache", "download", "upload", "outbox"]

    func run(_ report: Report, _ settings: ProofSettings) async throws {
        if settings.includes("token-file") { try await inFolder { try await killWithFile(in: $0, report, settings) } }
        if settings.includes("cache") {
            try await inFolder { try await killWithCache(isFull: false, in: $0, report, settings) }
        }
        if settings.includes("full-cache") {
            try await inFolder { try await killWithCache(isFull: true, in: $0, report, settings) }
        }
        if settings.includes("download") { try await inFolder { try await killWithDownload(in: $0, report, settings) } }
        if settings.includes("upload") { try await inFolder { try await killWithUpload(in: $0, report, settings) } }
        if settings.includes("outbox") { try await inFolder { try await killWithOutbox(in: $0, report, settings) } }
        if settings.includes("etcd") { try await inFolder { try await killWithEtcd(in: $0, report, settings) } }
    }

    private func inFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "networking-proof-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    /// Kills 500 processes (20 in a quick run), each up to 30 ms after the server began to refuse the token.
    private func killWithFile(in folder: URL, _ report: Report, _ settings: ProofSettings) async throws {
        let begun = ContinuousClock.now
        let kills = settings.count ?? (settings.isQuick ? 20 : 500)
        let file = folder.appending(path: "token.json")
        let fleet = try await TokenFleet(sharing: AccessTokenFile(file), at: file.path)
        var random = SeededGenerator(seed: settings.seed)
        for number in 0..<kills where fleet.server.violations.isEmpty {
            try await Task.sleep(for: .milliseconds(Int.random(in: 5..<120, using: &random)))
            fleet.server.invalidate()
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<30_000, using: &random)))
            try await fleet.replace(Int.random(in: 0..<fleet.size, using: &random))
            // A process that is killed while it holds the lease blocks the others until the lease expires. Further
            // kills in that time would prove nothing.
            try await fleet.server.waitForRefresh()
            if number % 100 == 99 {
                report.progress("kill token-file", since: begun, "\(number + 1) of \(kills) kills")
            }
        }
        try await fleet.finish()
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { !["token.json", "token.json.lease"].contains($0) }
        report.end(
            "kill token-file", since: begun, "\(kills) kills of \(fleet.size) processes, \(fleet.server.summary)",
            violations: fleet.server.violations + fleet.server.idleness(of: kills)
                + left.map { "\($0) was left behind" })
    }

    /// Kills 500 processes (30 in a quick run) that write to one cache on disk.
    ///
    /// - Parameter isFull: Whether the cache is small, so that responses are removed to make room.
    private func killWithCache(
        isFull: Bool, in folder: URL, _ report: Report, _ settings: ProofSettings
    ) async throws {
        let name = isFull ? "kill full-cache" : "kill cache"
        let begun = ContinuousClock.now
        let kills = settings.count ?? (settings.isQuick ? 30 : 500)
        let fleet = try CacheFleet(3, in: folder, isFull: isFull)
        defer { fleet.stop() }
        var random = SeededGenerator(seed: settings.seed)
        for number in 0..<kills where fleet.violations.isEmpty {
            try await Task.sleep(for: .microseconds(Int.random(in: 20_000..<120_000, using: &random)))
            try await fleet.replace(Int.random(in: 0..<fleet.size, using: &random))
            if number % 100 == 99 { report.progress(name, since: begun, "\(number + 1) of \(kills) kills") }
        }
        var idleness = fleet.steps < kills ? ["expected at least \(kills) steps"] : []
        if isFull, fleet.most < 3 << 20 { idleness.append("the cache was never full: \(fleet.most.grouped) bytes") }
        report.end(
            name, since: begun, "\(kills) kills of \(fleet.size) processes after \(fleet.steps) steps",
            violations: fleet.violations + idleness)
    }

    /// Kills 500 processes (30 in a quick run) that download to one file, each up to 20 ms after a request. The content
    /// changes before every tenth kill.
    private func killWithDownload(in folder: URL, _ report: Report, _ settings: ProofSettings) async throws {
        let begun = ContinuousClock.now
        let kills = settings.count ?? (settings.isQuick ? 30 : 500)
        let fleet = try DownloadFleet(in: folder)
        var random = SeededGenerator(seed: settings.seed)
        for number in 0..<kills where fleet.violations.isEmpty {
            try await fleet.waitForRequest(after: fleet.server.counts.requests)
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<20_000, using: &random)))
            if number % 10 == 9 { fleet.server.change() }
            try fleet.replace(Int.random(in: 0..<fleet.size, using: &random))
            if number % 100 == 99 {
                report.progress("kill download", since: begun, "\(number + 1) of \(kills) kills")
            }
        }
        try await fleet.finish()
        let (requests, resumed) = fleet.server.counts
        let versions = fleet.versions.count
        let isIdle = resumed < kills / 10 || versions < kills / 20
        let idleness = isIdle ? ["too few downloads: \(resumed) resumed, \(versions) versions complete"] : []
        report.end(
            "kill download", since: begun,
            "\(kills) kills of \(fleet.size) processes, \(requests.grouped) requests, \(resumed.grouped) resumed",
            violations: fleet.violations + idleness)
    }

    /// Kills 500 processes (30 in a quick run) that upload one file, each up to 60 ms after a request.
    private func killWithUpload(in folder: URL, _ report: Report, _ settings: ProofSettings) async throws {
        let begun = ContinuousClock.now
        let kills = settings.count ?? (settings.isQuick ? 30 : 500)
        let fleet = try UploadFleet(in: folder)
        var random = SeededGenerator(seed: settings.seed)
        for number in 0..<kills where fleet.violations.isEmpty {
            try await fleet.waitForRequest(after: fleet.server.counts.requests)
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<60_000, using: &random)))
            try fleet.replace(Int.random(in: 0..<fleet.size, using: &random))
            if number % 100 == 99 { report.progress("kill upload", since: begun, "\(number + 1) of \(kills) kills") }
        }
        try await fleet.finish()
        let (requests, resumed, created, complete) = fleet.server.counts
        let isIdle = resumed < kills / 10 || complete < kills / 50
        var faults = isIdle ? ["too few uploads: \(resumed) went on, \(complete) are complete"] : []
        // One of the three processes uploads, and the others wait for it. Most kills hit a process that sends bytes or
        // waits. On a slow disk, most of the time of an upload passes before its note is stored.
        if fleet.server.abandoned > 2 + kills / 3 {
            faults.append("\(created) uploads were created, and only \(complete) completed: notes were lost")
        }
        report.end(
            "kill upload", since: begun,
            "\(kills) kills of \(fleet.size) processes, \(requests.grouped) requests, \(resumed.grouped) went on, "
                + "\(complete.grouped) complete", violations: fleet.violations + faults)
    }

    /// Kills 500 processes (20 in a quick run) that send the entries of one outbox, each up to 20 ms after a request.
    private func killWithOutbox(in folder: URL, _ report: Report, _ settings: ProofSettings) async throws {
        let begun = ContinuousClock.now
        let kills = settings.count ?? (settings.isQuick ? 20 : 500)
        let fleet = try OutboxFleet(in: folder, seed: settings.seed)
        var random = SeededGenerator(seed: settings.seed)
        for number in 0..<kills where fleet.server.violations.isEmpty {
            try await Task.sleep(for: .milliseconds(Int.random(in: 5..<60, using: &random)))
            try await fleet.waitForRequest(after: fleet.server.count)
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<20_000, using: &random)))
            try fleet.replace(Int.random(in: 0..<fleet.size, using: &random))
            if number % 100 == 99 { report.progress("kill outbox", since: begun, "\(number + 1) of \(kills) kills") }
        }
        try fleet.finish()
        report.end(
            "kill outbox", since: begun, "\(kills) kills of \(fleet.size) processes, \(fleet.server.summary)",
            violations: fleet.server.violations + fleet.server.idleness(of: kills))
    }

    /// Kills 500 processes (4 in a quick run), each up to 100 ms after the server began to refuse the token. Restarts
    /// etcd once.
    private func killWithEtcd(in folder: URL, _ report: Report, _ settings: ProofSettings) async throws {
        let begun = ContinuousClock.now
        let kills = settings.count ?? (settings.isQuick ? 4 : 500)
        guard let etcd = try await EtcdServer(in: folder) else {
            report.skip("kill etcd")
            let isExpected = ProcessInfo.processInfo.environment["CI"] != nil
            return report.end(
                "kill etcd", since: begun, "skipped: etcd is not installed",
                violations: isExpected ? ["CI needs etcd"] : [])
        }
        defer { etcd.stop() }
        let fleet = try await TokenFleet(sharing: EtcdTokenStore(etcd.url, key: "token"), at: etcd.url.absoluteString)
        var random = SeededGenerator(seed: settings.seed)
        for number in 0..<kills where fleet.server.violations.isEmpty {
            try await Task.sleep(for: .milliseconds(Int.random(in: 50..<300, using: &random)))
            fleet.server.invalidate()
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<100_000, using: &random)))
            if number == kills / 2 { try await etcd.restart() }
            try await fleet.replace(Int.random(in: 0..<fleet.size, using: &random))
            try await fleet.server.waitForRefresh()
            if number % 100 == 99 { report.progress("kill etcd", since: begun, "\(number + 1) of \(kills) kills") }
        }
        try await fleet.finish()
        report.end(
            "kill etcd", since: begun, "\(kills) kills of \(fleet.size) processes, \(fleet.server.summary)",
            violations: fleet.server.violations + fleet.server.idleness(of: kills))
    }
}
