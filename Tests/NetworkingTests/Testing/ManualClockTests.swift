import Foundation
import NetworkingTesting
import Testing

@testable import Networking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Manual clocks", .timeLimit(.minutes(5)))
struct ManualClockTests {
    private let clock = ManualClock()

    @Test("Waiting for sleepers that never come ends when the task is cancelled")
    func sleepersThatNeverCome() async {
        let clock = clock
        let waiting = Task { await clock.waitForSleepers(3) }
        await Task.yield()
        waiting.cancel()
        await waiting.value
        let early = Task { await clock.waitForSleepers(3) }
        early.cancel()
        await early.value
    }
}
