import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Observers", .endsInTime)
struct ObserverTests {
    private let observer = RecordingObserver()

    private func service(_ transport: any Transport, clock: NetworkClock = .continuous) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.retry = RetryPolicy(retries: 2, backoff: .constant(.seconds(1)), jitter: .none)
            $0.transport = transport
            $0.observers = [observer]
            $0.clock = clock
        }
    }

    private func names(_ observer: RecordingObserver) -> [String] {
        observer.events.map { String("\($0.event)".prefix { $0 != "(" }) }
    }

    @Test("A cancelled call is reported as finished once")
    func interrupted() async throws {
        let manual = ManualTransport()
        let service = service(manual)
        let task = service.task(UserEndpoint.open, as: .string)
        await manual.waitForRequests()
        task.cancel()
        _ = await Fixture.failure { _ = try await task.value }
        while observer.reports.isEmpty { await Task.yield() }
        #expect(names(observer).filter { $0 == "finished" }.count == 1)
        #expect(observer.reports.first?.error as? GeneralRequestError == .cancelled)
        #expect(task.report?.attempts.count == 1)
    }

    @Test(
        "Observers can observe all calls, an endpoint type or a status; an observer runs once, after all retries",
        .row("N-32")
    )
    func registrations() async throws {
        let clock = ManualClock()
        let stub = StubTransport()
        stub.on(.get, "/v1/open", .status(.serviceUnavailable), .text("there"))
        stub.on(.get, "/v1/users/7", .status(.notFound))
        let service = service(stub, clock: clock.networkClock)
        let told = Box<[String: [Int]]>([:])
        @Sendable func note(_ key: String, _ report: CallReport) {
            told.change { $0[key, default: []].append(report.status?.code ?? 0) }
        }
        let all = service.observers.onFinish { note("all", $1) }
        let mine = service.observers.onFinish { if $0.endpoint is UserEndpoint { note("type", $1) } }
        let missing = service.observers.onFinish { if $1.status == .notFound { note("404", $1) } }
        async let text: String = service.request(UserEndpoint.open)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        _ = try await text
        _ = await Fixture.failure { try await service.request(.get("users/7")) }
        #expect(told.value == ["all": [200, 404], "type": [200], "404": [404]])
        for token in [all, mine, missing] { token.cancel() }
        _ = await Fixture.failure { try await service.request(.get("users/7")) }
        #expect(told.value["all"]?.count == 2)
    }

    @Test("When a call ends, the call's own callbacks run before the observers are notified", .row("N-32"))
    func afterCallbacks() async throws {
        let order = Box<[String]>([])
        let queue = DispatchQueue(label: "callbacks")
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .text("there") }
        }
        let token = service.observers.onFinish { _, _ in order.change { $0.append("observer") } }
        let task = queue.sync {
            let task = service.task(UserEndpoint.open, as: .string)
            task.onSuccess(on: queue) { _ in order.change { $0.append("success") } }
                .onCompletion(on: queue) { _ in order.change { $0.append("completion") } }
            return task
        }
        _ = try await task.value
        while order.value.count < 3 { await Task.yield() }
        #expect(order.value == ["success", "completion", "observer"])
        token.cancel()
    }

    @Test("A call notifies only the observers that were registered when it began, and reports each event once")
    func lateObserver() async throws {
        let manual = ManualTransport()
        let service = service(manual)
        let task = service.task(UserEndpoint.open, as: .string)
        await manual.waitForRequests()
        let late = RecordingObserver()
        let token = service.observers.register(late)
        manual.answer()
        _ = try await task.value
        async let next: String = service.request(UserEndpoint.open)
        await manual.waitForRequests()
        token.cancel()
        manual.answer()
        _ = try await next
        #expect(names(late).first == "started" && names(late).last == "finished")
        #expect(names(late).filter { $0 == "finished" }.count == 1)
    }

    @Test(
        "A call that has ended reports no more events and releases its observers and its endpoint",
        .endsInTime, arguments: [true, false])
    func released(isObserved: Bool) async throws {
        final class Canary: Sendable {}
        struct Singing: Endpoint {
            let canary: Canary
            let path: EndpointPath = "open"
        }
        weak var canary: Canary?
        let kept = Box<HTTPRequest?>(nil)
        do {
            let bird = Canary()
            canary = bird
            let service = NetworkService(environment: Fixture.environment) {
                $0.transport = StubTransport { _ in .status(.conflict) }
                $0.observers = isObserved ? [observer] : []
            }
            let task = service.task(Singing(canary: bird), as: .string)
            let error = await Fixture.failure { _ = try await task.value } as? NetworkError
            kept.change { $0 = error?.request }
            while isObserved, observer.reports.isEmpty { await Task.yield() }
            observer.forget()
        }
        kept.value?.parts.transfer?.report(.waiting(.connectivity))
        #expect(observer.events.isEmpty)
        while canary != nil { await Task.yield() }
    }

    @Test("A derived task has the report of the last call in its chain that was made")
    func derived() async throws {
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .text("there") }
            $0.observers = [observer]
            $0.clock = .continuous
        }
        let over = service.task(UserEndpoint.open, as: .string)
        _ = try await over.value
        let mapped = service.task(UserEndpoint.open, as: .string).flatMap { _ in over }
        _ = try await mapped.value
        #expect(mapped.report?.attempts.count == 1)
        let bad = NetworkService().task(UserEndpoint.open, as: .string).flatMap { _ in over }
        _ = await Fixture.failure { _ = try await bad.value }
        #expect((bad.report?.error as? NetworkError)?.kind == .invalidRequest)
    }
}
