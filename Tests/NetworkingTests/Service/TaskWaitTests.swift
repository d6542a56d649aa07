import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Waits for tasks, and their ends", .endsInTime)
struct TaskWaitTests {
    private let manual = ManualTransport()

    private func service(_ transport: (any Transport)? = nil) -> NetworkService {
        NetworkService(environment: Fixture.environment) { $0.transport = transport ?? manual }
    }

    private func task() -> RequestTask<String> { service().task(UserEndpoint.open, as: .string) }

    @Test("A cancelled wait for a task leaves nothing behind, and the other waits get the outcome")
    func cancelledWaits() async throws {
        let pending = task()
        await manual.waitForRequests()
        let waits = TaskWaits<String>()
        for _ in 0..<10 {
            let wait = Task { [settlement = pending.settlement] in try await waits.response(of: settlement) }
            wait.cancel()
            await #expect(throws: Interruption.self) { try await wait.value }
        }
        #expect(waits.count == 0)
        let others = (0..<10).map { _ in Task { try await pending.value } }
        let cancelled = (0..<100).map { _ in Task { try await pending.value } }
        for wait in cancelled {
            wait.cancel()
            await #expect(throws: NetworkError.self) { try await wait.value }
        }
        manual.answer(.ok, "x")
        for wait in others { #expect(try await wait.value == "x") }
        #expect(try await pending.value == "x")
    }

    @Test("The end of a call is reported although an asynchronous `map` goes on")
    func reportedEnd() async throws {
        let (finished, asked) = (Settlement<Void>(), Settlement<Void>())
        let service = service(StubTransport { _ in .text("a") })
        let token = service.observers.onFinish { _, _ in finished.settle(.success(())) }
        let derived = service.task(UserEndpoint.open, as: .string).map { text in
            asked.settle(.success(()))
            try await Settlement<Void>().value()  // ends when the task is cancelled
            return text
        }.onSuccess { _ in }
        try await asked.value()
        try await finished.value()
        #expect(derived.result == nil && derived.cancel())
        token.cancel()
    }

    @Test("`all` ends with the first error, and not with the cancellation of the other tasks that follows")
    func firstError() async {
        for _ in 0..<200 {
            let failed = service(StubTransport { _ in .status(.notFound) }).task(UserEndpoint.open, as: .string)
            let pair = RequestTask.all(task(), failed)
            let error = await Fixture.failure { _ = try await pair.value }
            #expect(error as? GeneralRequestError == .notFound)
        }
    }
}
