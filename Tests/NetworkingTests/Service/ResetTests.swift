import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Resetting a service and cancelling all calls", .endsInTime)
struct ResetTests {
    private let transport = ManualTransport()

    private func service(
        _ handlers: [any ErrorHandler] = [], limit: ConcurrencyLimit = ConcurrencyLimit(),
        adapters: [any RequestAdapter] = []
    ) -> UserService {
        UserService(environment: Fixture.environment) {
            $0.errorMapping = .unmapped
            $0.transport = transport
            $0.concurrencyLimit = limit
            $0.requestAdaptingService = RequestAdaptingService(adapters)
            $0.errorHandlingService = ErrorHandlingService(handlers)
        }
    }

    private func kind(_ task: RequestTask<String>) async -> NetworkError.Kind? {
        (await Fixture.failure { _ = try await task.value } as? NetworkError)?.kind
    }

    @Test("A reset ends every call, in any state, and returns when all calls have returned", .row("P-16", "I-50"))
    func endsAll() async throws {
        let limit = ConcurrencyLimit(1)
        let service = service(limit: limit)
        let sending = service.task(UserEndpoint.open, as: .string)
        await transport.waitForRequests()
        let queued = service.task(UserEndpoint.open, as: .string)
        while limit.waiterCount < 1 { await Task.yield() }
        await service.reset()
        #expect(service.client.calls.count == 0)
        #expect(await kind(sending) == .resetting)
        #expect(await kind(queued) == .resetting)
        #expect(limit.activeCount == 0 && limit.waiterCount == 0)
        let after = service.task(UserEndpoint.open, as: .string)
        await transport.waitForRequests(2)
        transport.answer()
        transport.answer(.ok, "works on")
        #expect(try await after.value == "works on")
    }

    @Test("A reset returns when the tasks that it has ended have their outcomes")
    func settled() async {
        let service = service()
        for _ in 0..<300 {
            let task = service.task(UserEndpoint.open, as: .string)
            await service.reset()
            #expect(task.result != nil && task.report != nil)
        }
    }

    @Test("A reset that begins during another one resets the participants again, and several share that one")
    func again() async {
        struct Slow: SynchronousRequestAdapter {
            let begun: Box<Int>
            let gate: Settlement<Void>

            func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {}

            func reset() async {
                begun.change { $0 += 1 }
                await withCheckedContinuation { continuation in gate.observe { _ in continuation.resume() } }
            }
        }
        let (begun, gate, entered, returned) = (Box(0), Settlement<Void>(), Box(0), Box(0))
        let service = service(adapters: [Slow(begun: begun, gate: gate)])
        let resets = (0..<4).map { index in
            Fixture.begin {
                while index > 0, begun.value < 1 { await Task.yield() }
                entered.change { $0 += 1 }
                await service.reset()
                returned.change { $0 += 1 }
            }
        }
        while entered.value < 4 { await Task.yield() }
        for _ in 0..<100 { await Task.yield() }
        #expect(begun.value == 1 && returned.value == 0)
        gate.settle(.success(()))
        for reset in resets { await reset.value }
        #expect(begun.value == 2)
    }

    @Test("Two resets return when all calls have returned; calls that start in the meantime are sent", .row("P-17"))
    func meanwhile() async throws {
        let isHeld = Settlement<Void>()
        let entered = Box(0)
        // This handler ignores cancellation, so its call returns only when the handler returns.
        let stubborn = AdHocErrorHandler { failure in
            entered.change { $0 += 1 }
            await withCheckedContinuation { continuation in isHeld.observe { _ in continuation.resume() } }
            return .next(failure.error)
        }
        let service = service([stubborn])
        let held = service.task(UserEndpoint.open, as: .string)
        await transport.waitForRequests()
        let returned = Box(0)
        let resets = (0..<2).map { _ in
            Fixture.begin {
                await service.reset()
                returned.change { $0 += 1 }
            }
        }
        while entered.value < 1 { await Task.yield() }
        // A call that ignores cancellation delays the resets, but not later calls of the service.
        let late = service.task(UserEndpoint.open, as: .string)
        await transport.waitForRequests(2)
        transport.answer()
        transport.answer(.ok, "late")
        #expect(try await late.value == "late")
        #expect(returned.value == 0)
        isHeld.settle(.success(()))
        for reset in resets { await reset.value }
        #expect(await kind(held) == .resetting)
        #expect(transport.count == 2)
    }

    @Test("A reset inside a participant's own reset returns", .endsInTime)
    func nestedReset() async throws {
        struct Nesting: Transport, ResetParticipant {
            let base: any Transport
            let service: Box<NetworkService?>
            let resets: Box<Int>
            func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
                try await base.send(request, delivering: delivery)
            }
            func reset() async {
                resets.change { $0 += 1 }
                await service.value?.reset()
            }
        }
        let held = Box<NetworkService?>(nil)
        let resets = Box(0)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = Nesting(base: transport, service: held, resets: resets)
        }
        held.change { $0 = service }
        await service.reset()
        await service.reset()
        #expect(resets.value == 2)
        let call = service.task(UserEndpoint.open, as: .string)
        await transport.waitForRequests()
        transport.answer(.ok, "works")
        #expect(try await call.value == "works")
        held.change { $0 = nil }
    }

    @Test("A reset with no call in progress returns", .row("P-22"))
    func nothingInProgress() async {
        let service = service()
        await service.reset()
        #expect(service.client.runningCallCount == 0)
    }

    @Test("A reset does not end a token refresh or the calls that the refresh makes")
    func refresh() async throws {
        let service = Box<UserService?>(nil)
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
            AccessToken(try await service.value?.request(UserEndpoint.open, as: .string) ?? "")
        }
        let made = UserService(
            client: NetworkClient(environment: Fixture.environment, authorizedBy: session) { $0.transport = transport })
        service.change { $0 = made }
        let call = made.task(UserEndpoint.fetch(id: "7"), as: .string)
        await transport.waitForRequests()
        transport.answer(.unauthorized)
        await transport.waitForRequests()
        await made.reset()
        #expect(await Fixture.failure { _ = try await call.value } != nil)
        #expect(session.isRefreshing)
        transport.answer(.ok, "new")
        while session.isRefreshing { await Task.yield() }
        #expect(session.accessToken == AccessToken("new"))
        service.change { $0 = nil }
    }

    @Test("A reset from inside a call does not end that call and does not wait for it", .endsInTime)
    func fromInside() async throws {
        let service = Box<UserService?>(nil)
        let resetting = AdHocErrorHandler { failure in
            if failure.status == .gone { await service.value?.reset() }
            return failure.status == .gone ? .retry() : .next(failure.error)
        }
        let made = self.service([resetting])
        service.change { $0 = made }
        let inside = made.task(UserEndpoint.open, as: .string)
        await transport.waitForRequests()
        let other = made.task(UserEndpoint.open, as: .string)
        await transport.waitForRequests(2)
        transport.answer(.gone)
        #expect(await kind(other) == .resetting)
        await transport.waitForRequests(2)
        transport.answer()
        transport.answer(.ok, "survived")
        #expect(try await inside.value == "survived")
        service.change { $0 = nil }
    }

    @Test("A cancellation or a reset directly after the start of a call ends the call")
    func atOnce() async throws {
        for _ in 0..<50 {
            let service = service()
            let cancelled = service.task(UserEndpoint.open, as: .string)
            #expect(service.cancelAll() == 1)
            #expect(await kind(cancelled) == .cancelled)
            let reset = service.task(UserEndpoint.open, as: .string)
            await service.reset()
            #expect(await kind(reset) == .resetting)
        }
    }

    @Test("`cancelAll` ends the calls of the matching endpoints and returns their number")
    func cancelAll() async throws {
        let service = service()
        let meant = (0..<3).map { _ in service.task(UserEndpoint.fetch(id: "7"), as: .string) }
        let other = service.task(UserEndpoint.open, as: .string)
        await transport.waitForRequests(4)
        let count = service.cancelAll { endpoint in
            if case UserEndpoint.fetch = endpoint { true } else { false }
        }
        #expect(count == 3)
        for task in meant { #expect(await kind(task) == .cancelled) }
        #expect(service.cancelAll() == 1)
        #expect(await kind(other) == .cancelled)
        #expect(service.cancelAll() == 0)
    }
}
