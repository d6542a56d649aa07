import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("The inbox of a WebSocket", .endsInTime)
struct WebSocketInboxTests {
    @Test("A cancelled reader gets no message, although messages have arrived; the next reader gets them")
    func cancelled() async throws {
        let inbox = WebSocketInbox()
        inbox.put(.text("one"))
        let mayRead = Settlement<Void>()
        let reading = Task {
            _ = try? await mayRead.value()
            return try await inbox.next {}
        }
        reading.cancel()
        mayRead.settle(.success(()))
        await #expect(throws: (any Error).self) { try await reading.value }
        #expect(try await inbox.next {} == .text("one"))
    }

    #if os(Linux)
        @Test("A reader that finds many messages lets other tasks run")
        func yields() async throws {
            let inbox = WebSocketInbox()
            for _ in 0..<1_000 { inbox.put(.text("x")) }
            inbox.finish(.success(WebSocketClose(.normal)))
            let thread = OneThread()
            let hasRun = Locked(false)
            let reading = Task(executorPreference: thread) {
                let other = Task(executorPreference: thread) { hasRun.withLock { $0 = true } }
                var (count, late) = (0, 0)
                while try await inbox.next(onRoom: {}) != nil {
                    count += 1
                    if !hasRun.withLock({ $0 }) { late = count }
                }
                await other.value
                return (count, late)
            }
            let (count, late) = try await reading.value
            #expect(count == 1_000)
            #expect(late < 200, "the other task waited for \(late) messages")
        }

        /// An executor with one thread, on which tasks run only while the others wait.
        private final class OneThread: TaskExecutor {
            private let queue = DispatchQueue(label: "networking.tests.one-thread")

            func enqueue(_ job: consuming ExecutorJob) {
                let job = UnownedJob(job)
                queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
            }
        }
    #endif
}
