import Foundation
import Networking
import NetworkingTesting

/// Makes mixed traffic for an hour, 64 calls at once. Checks that memory, descriptors and threads do not grow, and that
/// each call has the expected outcome.
struct SoakCheck: Check {
    let name = "soak"
    /// The kinds of calls. By default, the traffic contains all of them.
    var parts: [String] { SoakCall.allCases.map { "\($0)" } }

    func run(_ report: Report, _ settings: ProofSettings) async throws {
        #if os(Linux)
            let begun = ContinuousClock.now
            AllocatorArenas.limit(to: ProcessInfo.processInfo.activeProcessorCount)
            let seconds = settings.count ?? (settings.isQuick ? 60 : 3_600)
            let plan = SoakPlan(SoakCall.allCases.filter { settings.includes("\($0)") }, seconds: seconds)
            let server = try SoakServerProcess()
            defer { server.stop() }
            let folder = FileManager.default.temporaryDirectory.appending(path: "networking-soak-\(UUID())")
            defer { try? FileManager.default.removeItem(at: folder) }
            let result = try await SoakRun(plan, server: server.url, folder: folder, seed: settings.seed)
                .run { window in
                    report.row(window)
                    report.progress("soak", since: begun, "\(window.second) of \(seconds) seconds")
                }
            let most = result.windows.map(\.residentKiB).max() ?? 0
            report.text(([SoakWindow.titles] + result.windows.map { $0.line(most: most) }).joined(separator: "\n"))
            report.end(
                "soak", since: begun,
                "\(result.calls.grouped) calls, resident \(result.growthKiB) KiB more after the first "
                    + "\(plan.warmUp) s, seed \(settings.seed)",
                violations: result.violations)
        #else
            report.skip("soak")
            report.end("soak", since: .now, "skipped: needs /proc")
        #endif
    }
}

/// The calls of a soak test, its times in seconds, and its limits.
struct SoakPlan: Sendable {
    let calls: [SoakCall]
    let seconds: Int
    let window: Int
    /// The time at the beginning in which windows do not count.
    let warmUp: Int
    /// The limit for the growth of the resident memory after the warm-up. The growth must be smaller.
    let growthKiB: Int
    /// The number of threads that the system may add to its pools after the warm-up. The system adds a thread when all
    /// others are blocked, which may happen late. If calls leaked threads, their number would soon exceed this limit.
    let threads = ProcessInfo.processInfo.activeProcessorCount

    init(_ calls: [SoakCall], seconds: Int) {
        let isShort = seconds < 600
        self.calls = calls
        self.seconds = seconds
        window = isShort ? 10 : 60
        // The system adds its last thread after about a quarter of an hour. Each thread has a stack and a part of the
        // allocator's cache.
        warmUp = isShort ? 30 : 900
        // A short run has a higher limit, because the arenas of the allocator still grow after half a minute.
        growthKiB = isShort ? 4_096 : 1_024
    }
}
