import Foundation
import NetworkingTesting
import Testing

@testable import Networking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Manual clocks", .endsInTime)
struct ManualClockTests {
    private let clock = ManualClock()

    @Test("A wait for more sleepers than there are ends when the task is cancelled")
    func sleepersThatNeverCome() async {
        let clock = clock
        let waiting = Task { await clock.waitForSleepers(3) }
        await Task.yield()
        waiting.cancel()
        await waiting.value
        let early = Task { await clock.waitForSleepers(3) }
        early.cancel()
        await early.value
        #expect(waiting.isCancelled && early.isCancelled, "both have ended")
    }

    @Test("A wait for a sleeper within a time limit ignores sleepers that wake after the limit")
    func sleepersWithinALimit() async throws {
        let clock = clock
        let long = Task { try await clock.sleep(for: .seconds(30)) }
        await clock.waitForSleepers()
        let isSeen = Locked(false)
        let waiting = Task {
            await clock.waitForSleepers(within: .seconds(1))
            isSeen.withLock { $0 = true }
        }
        for _ in 0..<100 { await Task.yield() }
        #expect(!isSeen.withLock { $0 })
        let short = Task { try await clock.sleep(for: .seconds(1)) }
        await waiting.value
        #expect(clock.sleeperCount == 2)
        clock.advance(by: .seconds(1))
        try await short.value
        long.cancel()
    }
}
