import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Cancellation, deadlines and completion")
struct EndingTests {
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

    @Test("R-14: the first `cancel()` returns true, later ones return false, and the call ends as cancelled")
    func cancelWhileSending() async {
        let manual = ManualTransport()
        let task = service(manual).task(UserEndpoint.open, as: .string)
        await manual.waitForRequests()
        #expect(task.cancel())
        #expect(!task.cancel())
        #expect(await error(of: task) as? GeneralRequestError == .cancelled)
        guard case .cancelled = task.state else { return #expect(Bool(false), "\(task.state)") }
    }

    @Test("R-14: `cancel()` returns false after the call has completed")
    func cancelAfterwards() async throws {
        let stub = StubTransport { _ in .text("hello") }
        let task = service(stub).task(UserEndpoint.open, as: .string)
        #expect(try await task.value == "hello")
        #expect(!task.cancel())
    }

    @Test("A cancellation before the start is not lost")
    func cancelAtOnce() async {
        for _ in 0..<200 {
            let stub = StubTransport { _ in .text("hello") }
            let task = service(stub).task(UserEndpoint.open, as: .string)
            guard task.cancel() else { continue }
            #expect(await error(of: task) as? GeneralRequestError == .cancelled)
        }
    }

    @Test("A call that waits for a permit is cancelled at once and never sent")
    func cancelWhileQueued() async {
        let manual = ManualTransport()
        let limit = ConcurrencyLimit(1)
        let service = service(manual, admission: [limit])
        let first = service.task(UserEndpoint.open, as: .string)
        await manual.waitForRequests()
        let second = service.task(UserEndpoint.open, as: .string)
        while limit.waiterCount == 0 { await Task.yield() }
        #expect(second.cancel())
        #expect(await error(of: second) as? GeneralRequestError == .cancelled)
        #expect(limit.waiterCount == 0)
        manual.answer(.ok, "first")
        #expect(await error(of: first) == nil)
    }

    @Test("A call that is cancelled in an adapter ends as soon as the adapter returns, and is never sent")
    func cancelWhileAdapting() async {
        let stub = StubTransport { _ in .text("hello") }
        let entered = Settlement<Void>()
        let adapter = ClosureAdapter { _, _ in
            entered.settle(.success(()))
            while !Task.isCancelled { await Task.yield() }
        }
        let task = service(stub, adapters: [adapter]).task(UserEndpoint.open, as: .string)
        try? await entered.value()
        #expect(task.cancel())
        #expect(await error(of: task) as? GeneralRequestError == .cancelled)
        #expect(stub.requests.isEmpty)
    }

    @Test("Cancelling a call that waits to retry ends the wait, and no retry is sent")
    func cancelWhileWaitingToRetry() async {
        let stub = StubTransport { _ in .status(.serviceUnavailable) }
        let policy = RetryPolicy(retries: 3, backoff: .constant(.seconds(60)))
        let task = service(stub, handlers: [RetryErrorHandler(policy), GeneralErrorHandler()]).task(
            UserEndpoint.open, as: .string)
        await clock.waitForSleepers()
        #expect(task.cancel())
        #expect(await error(of: task) as? GeneralRequestError == .cancelled)
        #expect(stub.requests.count == 1)
    }

    @Test("Cancelling a call during a refresh ends the call promptly, and the refresh continues")
    func cancelDuringRefresh() async {
        let stub = StubTransport { _ in .status(.unauthorized) }
        let started = Settlement<Void>()
        let release = Settlement<Void>()
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
            started.settle(.success(()))
            try await release.value()
            return AccessToken("new")
        }
        let events = session.events.values()
        let service = UserService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        let task = service.task(UserEndpoint.fetch(id: "7"), as: .string)
        try? await started.value()
        #expect(task.cancel())
        #expect(await error(of: task) as? GeneralRequestError == .cancelled)
        #expect(session.isRefreshing)
        release.settle(.success(()))
        for await event in events {
            guard case .refreshed(let token) = event else { continue }
            #expect(token == AccessToken("new"))
            break
        }
        #expect(stub.requests.count == 1)
    }

    @Test("Cancelling the surrounding task cancels the call")
    func surroundingTask() async {
        let manual = ManualTransport()
        let service = service(manual)
        let task = Task { try await service.request(UserEndpoint.open) }
        await manual.waitForRequests()
        task.cancel()
        #expect(await Fixture.failure { try await task.value } as? GeneralRequestError == .cancelled)
    }

    @Test("The total deadline ends the wait for a permit with a timeout")
    func deadline() async {
        let manual = ManualTransport()
        let limit = ConcurrencyLimit(1)
        let service = service(manual, admission: [limit])
        let first = service.task(UserEndpoint.open, as: .string)
        await manual.waitForRequests()
        let settings = RequestSettings(timeouts: HTTPRequest.Timeouts(total: .seconds(3)))
        let second = service.task(UserEndpoint.open, as: .string, with: settings)
        await clock.waitForSleepers()
        clock.advance(by: .milliseconds(2_999))
        guard case .waiting = second.state else { return #expect(Bool(false), "it waits for a permit") }
        clock.advance(by: .milliseconds(1))
        #expect(await error(of: second) as? GeneralRequestError == .timedOut)
        manual.answer(.ok, "first")
        #expect(await error(of: first) == nil)
    }

    @Test("The deadline also ends the delay of a stub")
    func deadlineOverStub() async {
        let stub = StubTransport(clock: clock.networkClock) { _ in .text("late").delayed(by: .seconds(5)) }
        let settings = RequestSettings(timeouts: HTTPRequest.Timeouts(total: .seconds(3)))
        let task = service(stub).task(UserEndpoint.open, as: .string, with: settings)
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(3))
        #expect(await error(of: task) as? GeneralRequestError == .timedOut)
        #expect(clock.now.offset == .seconds(3))
    }

    @Test("A deadline that passes while user code runs ends the call, even without any wait")
    func deadlineInUserCode() async {
        let stub = StubTransport { _ in .text("hello") }
        let clock = clock
        let slow = ClosureAdapter { _, _ in clock.advance(by: .seconds(5)) }
        let settings = RequestSettings(timeouts: HTTPRequest.Timeouts(total: .seconds(3)))
        let task = service(stub, adapters: [slow], handlers: []).task(UserEndpoint.open, as: .string, with: settings)
        #expect((await error(of: task) as? NetworkError)?.kind == .deadlineTimedOut)
        #expect(stub.requests.isEmpty)
        let bad = RequestSettings(timeouts: HTTPRequest.Timeouts(total: .zero))
        let refused = service(stub, handlers: []).task(UserEndpoint.open, as: .string, with: bad)
        #expect((await error(of: refused) as? NetworkError)?.kind == .invalidRequest)
    }

    @Test("A cancelled call runs its handlers once, and a retry that a handler requests is not granted")
    func cancelledWalk() async {
        let manual = ManualTransport()
        let kinds = Box<[NetworkError.Kind]>([])
        let stubborn = ClosureErrorHandler { failure in
            kinds.change { $0.append(failure.networkError?.kind ?? .unknown) }
            return .retry()
        }
        let task = service(manual, handlers: [stubborn, GeneralErrorHandler()]).task(UserEndpoint.open, as: .string)
        await manual.waitForRequests()
        task.cancel()
        #expect(await error(of: task) as? GeneralRequestError == .cancelled)
        #expect(kinds.value == [.cancelled])
    }

    @Test("A task that is started inside a call is independent; an awaited call inside a call ends with it")
    func nested() async {
        let manual = ManualTransport()
        let inner = service(manual)
        let started = Settlement<RequestTask<String>>()
        let adapter = ClosureAdapter { _, _ in
            started.settle(.success(inner.task(UserEndpoint.open, as: .string)))
            let _: String = try await inner.request(UserEndpoint.open, as: .string)
        }
        let outer = service(StubTransport { _ in .text("outer") }, adapters: [adapter])
            .task(
                UserEndpoint.open, as: .string,
                with: RequestSettings(timeouts: HTTPRequest.Timeouts(total: .seconds(1))))
        await manual.waitForRequests(2)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(await error(of: outer) as? GeneralRequestError == .timedOut)
        guard let task = try? await started.value() else { return #expect(Bool(false)) }
        for _ in 0..<2 { manual.answer(.ok, "inner") }
        #expect(await error(of: task) == nil)
    }

    @Test("A task that user code leaves running can make calls after its call was cancelled")
    func leftRunning() async throws {
        let manual = ManualTransport()
        let other = service(StubTransport { _ in .text("analytics") })
        let over = Settlement<Void>()
        let left = Settlement<Task<String, any Error>>()
        let adapter = ClosureAdapter { _, _ in
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
        let stubborn = ClosureErrorHandler { _ in .retry() }
        let error = await Fixture.failure {
            try await service(stub, handlers: [stubborn, GeneralErrorHandler()]).request(UserEndpoint.open)
        }
        #expect(error as? GeneralRequestError == .notFound)
        #expect(stub.requests.count == 10)
    }

    @Test("A body that cannot be sent again is not retried")
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

    @Test("4,000 calls are cancelled at random moments: each completes once, and no permit is lost")
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
