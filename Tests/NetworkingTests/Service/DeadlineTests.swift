import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Deadlines and attempts", .endsInTime)
struct DeadlineTests {
    private let clock = ManualClock()

    private func service(
        _ transport: any Transport, admission: [any AdmissionPolicy] = [], adapters: [any RequestAdapter] = [],
        handlers: [any ErrorHandler] = [GeneralErrorHandler()]
    ) -> UserService {
        UserService(environment: Fixture.environment) {
            $0.errorMapping = .unmapped
            $0.transport = transport
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = admission
            $0.requestAdaptingService = RequestAdaptingService(adapters)
            $0.errorHandlingService = ErrorHandlingService(handlers)
            $0.clock = clock.networkClock
        }
    }

    private func error(of task: RequestTask<String>) async -> (any Error)? {
        await Fixture.failure { _ = try await task.value }
    }

    @Test("The total deadline ends the wait for a permit with a timeout")
    func deadline() async {
        let manual = ManualTransport()
        let limit = ConcurrencyLimit(1)
        let service = service(manual, admission: [limit])
        let first = service.task(UserEndpoint.open, as: .string)
        await manual.waitForRequests()
        let settings = RequestSettings { $0.timeouts.total = .seconds(3) }
        let second = service.task(UserEndpoint.open, as: .string, with: settings)
        await clock.waitForSleepers()
        clock.advance(by: .milliseconds(2_999))
        guard case .waiting = second.state else { return #expect(Bool(false), "the call does not wait") }
        clock.advance(by: .milliseconds(1))
        #expect(await error(of: second) as? GeneralRequestError == .timedOut)
        manual.answer(.ok, "first")
        #expect(await error(of: first) == nil)
    }

    @Test("The deadline also ends the delay of a stub")
    func deadlineOverStub() async {
        let stub = StubTransport(clock: clock.networkClock) { _ in .text("late").delayed(by: .seconds(5)) }
        let settings = RequestSettings { $0.timeouts.total = .seconds(3) }
        let task = service(stub).task(UserEndpoint.open, as: .string, with: settings)
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(3))
        #expect(await error(of: task) as? GeneralRequestError == .timedOut)
        #expect(clock.now.offset == .seconds(3))
    }

    @Test("A deadline that passes while user code runs ends the call, even if the call never waits")
    func deadlineInUserCode() async {
        let stub = StubTransport { _ in .text("hello") }
        let clock = clock
        let slow = AdHocAdapter { _, _ in clock.advance(by: .seconds(5)) }
        let settings = RequestSettings { $0.timeouts.total = .seconds(3) }
        let task = service(stub, adapters: [slow], handlers: []).task(UserEndpoint.open, as: .string, with: settings)
        #expect((await error(of: task) as? NetworkError)?.kind == .deadlineTimedOut)
        #expect(stub.requests.isEmpty)
        let bad = RequestSettings { $0.timeouts.total = .zero }
        let refused = service(stub, handlers: []).task(UserEndpoint.open, as: .string, with: bad)
        #expect((await error(of: refused) as? NetworkError)?.kind == .invalidRequest)
    }

    @Test("A task that an adapter started can still make calls after the adapter's own call was cancelled")
    func leftRunning() async throws {
        let manual = ManualTransport()
        let other = service(StubTransport { _ in .text("analytics") })
        let over = Settlement<Void>()
        let left = Settlement<Task<String, any Error>>()
        let adapter = AdHocAdapter { _, _ in
            let task = Task {
                while over.outcome == nil { await Task.yield() }
                return try await other.request(UserEndpoint.open, as: .string)
            }
            left.settle(.success(task))
        }
        let task = service(manual, adapters: [adapter]).task(UserEndpoint.open, as: .string)
        await manual.waitForRequests()
        task.cancel()
        #expect(await error(of: task) as? GeneralRequestError == .cancelled)
        over.settle(.success(()))
        #expect(try await left.value().value == "analytics")
    }

    @Test("A handler that always requests a retry gets ten attempts, and then the next handlers run")
    func cap() async {
        let stub = StubTransport { _ in .status(.notFound) }
        let stubborn = AdHocErrorHandler { _ in .retry() }
        let error = await Fixture.failure {
            try await service(stub, handlers: [stubborn, GeneralErrorHandler()]).request(UserEndpoint.open)
        }
        #expect(error as? GeneralRequestError == .notFound)
        #expect(stub.requests.count == 10)
    }

    @Test("A request whose body cannot be sent again is not retried")
    func notReplayable() async {
        struct Upload: Endpoint {
            var path: EndpointPath { "x" }
            var method: HTTPMethod { .put }
            var body: HTTPBody { .source(length: 1, isReplayable: false) { DataBodyReader(Data([1])) } }
        }
        let stub = StubTransport { _ in .status(.serviceUnavailable) }
        let handlers: [any ErrorHandler] = [RetryErrorHandler(RetryPolicy(retries: 3))]
        #expect(await Fixture.failure { try await service(stub, handlers: handlers).request(Upload()) } is NetworkError)
        #expect(stub.requests.count == 1)
    }

    @Test("If 4,000 calls are cancelled at random moments, each call completes once and no permit is lost")
    func randomCancels() async {
        let limit = ConcurrencyLimit(8)
        let service = service(
            StubTransport { _ in
                await Task.yield()
                return .text("hello")
            }, admission: [limit])
        var random = SeededGenerator(seed: 7)
        let answers = Box(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4_000 {
                let yields = Int.random(in: 0..<20, using: &random)
                group.addTask {
                    let task = service.task(UserEndpoint.open, as: .string)
                    for _ in 0..<yields { await Task.yield() }
                    let isCancelled = task.cancel()
                    let error = await Fixture.failure { _ = try await task.value }
                    #expect(isCancelled == (error != nil))
                    answers.change { $0 += 1 }
                }
            }
        }
        #expect(answers.value == 4_000)
        #expect(limit.activeCount == 0)
        #expect(limit.waiterCount == 0)
    }
}
