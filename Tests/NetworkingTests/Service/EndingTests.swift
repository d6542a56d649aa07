import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Cancellation, deadlines and completion", .endsInTime)
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

    @Test(
        "The first `cancel()` returns true, later calls of `cancel()` return false, and the call ends as cancelled",
        .row("R-14"))
    func cancelWhileSending() async {
        let manual = ManualTransport()
        let task = service(manual).task(UserEndpoint.open, as: .string)
        await manual.waitForRequests()
        #expect(task.cancel())
        #expect(!task.cancel())
        #expect(await error(of: task) as? GeneralRequestError == .cancelled)
        guard case .cancelled = task.state else { return #expect(Bool(false), "\(task.state)") }
    }

    @Test("`cancel()` returns false after the call has completed", .row("R-14"))
    func cancelAfterwards() async throws {
        let stub = StubTransport { _ in .text("hello") }
        let task = service(stub).task(UserEndpoint.open, as: .string)
        #expect(try await task.value == "hello")
        #expect(!task.cancel())
    }

    @Test("A cancellation before a call has started ends the call")
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
        let adapter = AdHocAdapter { _, _ in
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

    @Test("A cancelled call runs its handlers once, and a retry that a handler requests is not granted")
    func cancelledWalk() async {
        let manual = ManualTransport()
        let kinds = Box<[NetworkError.Kind]>([])
        let stubborn = AdHocErrorHandler { failure in
            kinds.change { $0.append(failure.networkError?.kind ?? .unknown) }
            return .retry()
        }
        let task = service(manual, handlers: [stubborn, GeneralErrorHandler()]).task(UserEndpoint.open, as: .string)
        await manual.waitForRequests()
        task.cancel()
        #expect(await error(of: task) as? GeneralRequestError == .cancelled)
        #expect(kinds.value == [.cancelled])
    }

    @Test("A task that is started inside a call is independent; an awaited inner call ends with the outer call")
    func nested() async {
        let manual = ManualTransport()
        let inner = service(manual)
        let started = Settlement<RequestTask<String>>()
        let adapter = AdHocAdapter { _, _ in
            started.settle(.success(inner.task(UserEndpoint.open, as: .string)))
            let _: String = try await inner.request(UserEndpoint.open, as: .string)
        }
        let outer = service(StubTransport { _ in .text("outer") }, adapters: [adapter])
            .task(
                UserEndpoint.open, as: .string,
                with: RequestSettings { $0.timeouts.total = .seconds(1) })
        await manual.waitForRequests(2)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(await error(of: outer) as? GeneralRequestError == .timedOut)
        guard let task = try? await started.value() else { return #expect(Bool(false)) }
        for _ in 0..<2 { manual.answer(.ok, "inner") }
        #expect(await error(of: task) == nil)
    }

    private enum Order: Endpoint {
        case place
        case poll

        var path: EndpointPath { "orders" }
        var method: HTTPMethod { self == .place ? .post : .get }
        var authorizationType: AuthorizationType { .bearer }
    }

    @Test("A call that is cancelled while it waits to retry reports the cancellation, not the last response")
    func cancelledBackoff() async throws {
        let clock = ManualClock()
        let seen = Box<[RequestFailure]>([])
        let handler = AdHocErrorHandler { failure in
            seen.change { $0.append(failure) }
            return .next(failure.error)
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .status(.serviceUnavailable) }
            $0.errorHandlingService = ErrorHandlingService([
                handler, RetryErrorHandler(RetryPolicy(retries: 3, backoff: .constant(.seconds(5)))),
            ])
            $0.clock = clock.networkClock
        }
        let task = service.task(Order.poll, as: .void)
        await clock.waitForSleepers(1)
        task.cancel()
        _ = await Fixture.failure { _ = try await task.value }
        let last = try #require(seen.value.last)
        #expect(last.networkError?.kind == .cancelled)
        #expect(last.status == nil)
        #expect(last.attempt == 1)
        #expect(last.history.count == 1)
    }

    @Test("If a call is cancelled while an adapter runs, the next adapters do not run")
    func adaptersAfterCancel() async throws {
        let ran = Box(0)
        let first = AdHocAdapter { _, _ in
            withUnsafeCurrentTask { $0?.cancel() }
            await Task.yield()
        }
        let second = AdHocAdapter { _, _ in ran.change { $0 += 1 } }
        let service = NetworkService(environment: Fixture.environment) {
            $0.errorMapping = .unmapped
            $0.transport = StubTransport { _ in .status(.ok) }
            $0.requestAdaptingService = RequestAdaptingService([first, second])
        }
        let error = await Task { await Fixture.failure { try await service.request(Order.poll) } }.value
        #expect((error as? NetworkError)?.kind == .cancelled)
        #expect(ran.value == 0)
    }
}
