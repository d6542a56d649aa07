import Foundation
import Networking
import NetworkingTesting

/// Makes mixed traffic of 64 calls at once for an hour. Checks that memory, descriptors and threads do not grow, and
/// how each call ends.
struct SoakCheck: Check {
    let name = "soak"
    /// The kinds of calls. By default, the traffic contains all of them.
    var parts: [String] { SoakCall.allCases.map { "\($0)" } }

    func run(_ report: Report, _ settings: ProofSettings) async throws {
        #if os(Linux)
            let begun = ContinuousClock.now
            let seconds = settings.count ?? (settings.isQuick ? 60 : 3_600)
            let calls = SoakCall.allCases.filter { settings.includes("\($0)") }
            let plan = SoakPlan(
                calls: calls, seconds: seconds, window: seconds < 600 ? 10 : 60, warmUp: seconds < 600 ? 30 : 60)
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
            report.end("soak", since: .now, "skipped: needs /proc")
        #endif
    }
}

/// The calls of a soak test, and its times in seconds.
struct SoakPlan: Sendable {
    let calls: [SoakCall]
    let seconds: Int
    let window: Int
    /// The time whose windows do not count.
    let warmUp: Int
}
