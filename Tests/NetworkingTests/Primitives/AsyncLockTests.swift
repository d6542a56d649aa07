import Testing

@testable import Networking

@Suite("Async lock", .endsInTime)
struct AsyncLockTests {
    private let lock = AsyncLock()

    @Test("A hundred tasks hold the lock one at a time")
    func oneAtATime() async throws {
        let inside = Box(0)
        let most = Box(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await lock.withLock {
                        inside.change { $0 += 1 }
                        most.change { $0 = max($0, inside.value) }
                        await Task.yield()
                        inside.change { $0 -= 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(most.value == 1)
    }

    @Test("A task that is cancelled while it waits is skipped, and the next task runs")
    func cancelled() async throws {
        let isHeld = Settlement<Void>()
        let release = Settlement<Void>()
        let holder = Task {
            try await lock.withLock {
                isHeld.settle(.success(()))
                try await release.value()
            }
        }
        try await isHeld.value()
        let cancelled = Task { try await lock.withLock { "cancelled" } }
        cancelled.cancel()
        await #expect(throws: Interruption.cancelled) { try await cancelled.value }
        let next = Task { try await lock.withLock { "next" } }
        release.settle(.success(()))
        try await holder.value
        #expect(try await next.value == "next")
        #expect(try await lock.withLock { "free" } == "free")
    }
}
