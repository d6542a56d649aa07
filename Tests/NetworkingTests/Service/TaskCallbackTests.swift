import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Callbacks of tasks", .endsInTime)
struct TaskCallbackTests {
    private let manual = ManualTransport()
    private let queue = DispatchQueue(label: "callbacks")

    private func service(_ transport: (any Transport)? = nil, retry: RetryPolicy? = nil) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.retry = retry
            $0.transport = transport ?? manual
        }
    }

    private func task(_ transport: (any Transport)? = nil, retry: RetryPolicy? = nil) -> RequestTask<String> {
        service(transport, retry: retry).task(UserEndpoint.open, as: .string)
    }

    private func answering(_ text: String) -> RequestTask<String> { task(StubTransport { _ in .text(text) }) }
    private let log = Box<[String]>([])
    private func note(_ text: String) { log.change { $0.append(text) } }

    @Test(
        "Callbacks for success, failure and completion run once, on their queue, even if they are added late",
        .row("I-20", "I-21", "I-22")
    )
    func registrations() async throws {
        let task = answering("a")
        let first = task.map { $0 + "b" }
        #expect(try await first.value == "ab")
        let failing = task.map { _ -> String in throw UserError.taken }
        #expect(await Fixture.failure { _ = try await failing.value } as? UserError == .taken)
        for round in 0..<2 {
            task.onSuccess(on: queue) { note("\(round) \($0)") }
                .onFailure(on: queue) { _ in note("never") }
                .onCompletion(on: queue) { note("\(round) \($0.isSuccess)") }
            failing.onSuccess(on: queue) { _ in note("never") }
                .onFailure(on: queue) { note("\(round) \($0)") }
                .onCompletion(on: queue) { note("\(round) \($0.isSuccess)") }
        }
        while log.value.count < 8 { await Task.yield() }
        let succeeded = ["0 a", "0 true", "1 a", "1 true"]
        #expect(log.value.filter(succeeded.contains) == succeeded)
        #expect(log.value.filter { !succeeded.contains($0) } == ["0 taken", "0 false", "1 taken", "1 false"])
    }

    @Test("An observer that is added during a notification is notified after the earlier observers")
    func order() async {
        let settlement = Settlement<Int>()
        let order = Box<[Int]>([])
        let (isNotified, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        settlement.observe { _ in
            isNotified.signal()
            goOn.wait()
            order.change { $0.append(1) }
        }
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            settlement.settle(.success(1))
            isDone.signal()
        }
        await Task.detached { TaskCallbackTests.wait(for: isNotified) }.value
        settlement.observe { _ in order.change { $0.append(2) } }
        #expect(order.value.isEmpty)
        #expect(settlement.outcome != nil)
        goOn.signal()
        await Task.detached { TaskCallbackTests.wait(for: isDone) }.value
        #expect(order.value == [1, 2])
        settlement.observe { _ in order.change { $0.append(3) } }
        #expect(order.value == [1, 2, 3])
    }

    private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

    @Test("Callbacks run on the main actor or the given queue and hold no lock; decoding does not run there")
    func queues() async throws {
        let key = DispatchSpecificKey<String>()
        let own = DispatchQueue(label: "own")
        own.setSpecific(key: key, value: "own")
        let reading = ResponseConverter<String> { response in
            #expect(DispatchQueue.getSpecific(key: key) == nil)
            return String(decoding: response.data, as: UTF8.self)
        }
        let task = service(StubTransport { _ in .text("x") }).task(UserEndpoint.open, as: reading)
        await withCheckedContinuation { continuation in
            task.onSuccess { _ in
                MainActor.assertIsolated()
                #expect(DispatchQueue.getSpecific(key: key) == nil)
            }
            task.onSuccess(on: own) { _ in
                #expect(DispatchQueue.getSpecific(key: key) == "own")
                // If the callback held a lock, each of these calls would wait forever.
                _ = (task.state, task.result, task.cancel(), task.progress)
                task.onSuccess(on: own) { _ in continuation.resume() }
            }
        }
    }

    @Test("A task that is not stored continues, and its callbacks run")
    func dropped() async {
        await withCheckedContinuation { continuation in
            answering("x").map { $0 + "y" }.onSuccess(on: queue) {
                #expect($0 == "xy")
                continuation.resume()
            }
        }
    }
}
