import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Reset participants", .endsInTime)
struct ResetParticipantTests {
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

    @Test("Calling `reset()` on a part runs the part's own method, not the default method that does nothing")
    func ownMethod() async {
        let count = Box(0)
        final class Plain: ResetParticipant {
            let count: Box<Int>
            init(_ count: Box<Int>) { self.count = count }
            func reset() { count.change { $0 += 1 } }
        }
        struct Waiting: RequestAdapter {
            let count: Box<Int>
            func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {}
            func reset() async { count.change { $0 += 10 } }
        }
        actor Isolated: ResetParticipant {
            let count: Box<Int>
            init(_ count: Box<Int>) { self.count = count }
            func reset() { count.change { $0 += 100 } }
        }
        func resetInAsynchronousCode() async {
            Plain(count).reset()
            await Waiting(count: count).reset()
            await Isolated(count).reset()
        }
        await resetInAsynchronousCode()
        #expect(count.value == 111)
        let parts: [any ResetParticipant] = [Plain(count), Waiting(count: count), Isolated(count)]
        for part in parts { await part.reset() }
        #expect(count.value == 222)
    }

    @Test("Calls that reset their service at the same time do not wait for each other", .endsInTime)
    func fromInsideTwice() async throws {
        let service = Box<UserService?>(nil)
        let resetting = AdHocErrorHandler { failure in
            if failure.status == .gone { await service.value?.reset() }
            return .next(failure.error)
        }
        let made = self.service([resetting])
        service.change { $0 = made }
        let calls = (0..<8).map { _ in made.task(UserEndpoint.open, as: .string) }
        await transport.waitForRequests(8)
        for _ in calls { transport.answer(.gone) }
        for call in calls { #expect(await kind(call) != nil) }
        #expect(made.client.calls.count == 0)
        service.change { $0 = nil }
    }

    @Test("A transport that is a reset participant is reset once, after every call has returned")
    func participants() async throws {
        final class Remembering: Transport, ResetParticipant {
            let base: any Transport
            let forgotten = Box<[Int]>([])
            let count: @Sendable () -> Int
            init(_ base: any Transport, _ count: @escaping @Sendable () -> Int) {
                (self.base, self.count) = (base, count)
            }
            func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
                try await base.send(request, delivering: delivery)
            }
            func reset() async { forgotten.change { $0.append(count()) } }
        }
        let service = Box<NetworkService?>(nil)
        let decorator = Remembering(transport) { service.value?.client.calls.count ?? -1 }
        let made = NetworkService(environment: Fixture.environment) { $0.transport = decorator }
        service.change { $0 = made }
        let call = made.task(UserEndpoint.open, as: .string)
        await transport.waitForRequests()
        await made.reset()
        #expect(decorator.forgotten.value == [0])
        #expect(await kind(call) == .resetting)
        service.change { $0 = nil }
    }

    @Test("Two resets at once reset a participant twice, one after the other")
    func participantsOnce() async throws {
        final class Slow: Transport, ResetParticipant {
            let calls = Box(0)
            let mayEnd = Settlement<Void>()
            func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
                HTTPResponse(.ok, to: request)
            }
            func reset() async {
                calls.change { $0 += 1 }
                await withCheckedContinuation { continuation in mayEnd.observe { _ in continuation.resume() } }
            }
        }
        let slow = Slow()
        let service = NetworkService(environment: Fixture.environment) { $0.transport = slow }
        let resets = (0..<2).map { _ in Fixture.begin { await service.reset() } }
        while slow.calls.value == 0 { await Task.yield() }
        slow.mayEnd.settle(.success(()))
        for reset in resets { await reset.value }
        #expect(slow.calls.value == 2)
    }

    @Test("An adapter that is also a handler is reset once, and so is a handler that was added later")
    func resetOnce() async {
        final class Both: SynchronousRequestAdapter, ErrorHandler, ResetParticipant {
            let resets = Box(0)
            func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {}
            func handle(_ failure: RequestFailure) async -> ErrorHandlingResult { .next(failure.error) }
            func reset() async { resets.change { $0 += 1 } }
        }
        let both = Both()
        let later = Both()
        let handling = ErrorHandlingService([both])
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .status(.ok) }
            $0.requestAdaptingService = RequestAdaptingService([both])
            $0.errorHandlingService = handling
        }
        let token = handling.register(later)
        await service.reset()
        #expect(both.resets.value == 1)
        #expect(later.resets.value == 1)
        token.cancel()
    }
}
