import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Events")
struct EventTests {
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

    @Test("I-37: observers are notified of each step of a call, before and after each attempt is sent")
    func steps() async throws {
        let clock = ManualClock()
        let stub = StubTransport()
        stub.on(nil, nil, .status(.serviceUnavailable), .text("there"))
        let service = service(SendingTransport(base: stub), clock: clock.networkClock)
        async let text: String = service.request(UserEndpoint.open)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(try await text == "there")
        #expect(
            names(observer) == [
                "started", "attemptStarted", "permitAcquired", "adapted", "sent", "head", "attemptEnded", "waiting",
                "attemptStarted",
                "permitAcquired", "adapted", "sent", "head", "attemptEnded", "finished",
            ])
        #expect(Set(observer.events.map(\.call.id)).count == 1)
        #expect(observer.events.allSatisfy { $0.call.endpoint is UserEndpoint })
        guard case .waiting(.retry(let delay, let decision)) = observer.events[7].event else {
            return #expect(Bool(false), "the wait has no reason")
        }
        #expect(delay == .seconds(1) && decision.reason == "503 Service Unavailable")
    }

    @Test("A redirect, a wait for a permit and an error before sending are reported")
    func others() async throws {
        let stub = StubTransport()
        stub.on(.get, "/v1/open", StubResponse(.found, headers: [.location: "/moved"]))
        stub.on(.get, "/moved", .text("here"))
        let manual = ManualTransport()
        let service = service(stub)
        #expect(try await service.request(UserEndpoint.open) as String == "here")
        #expect(
            names(observer) == [
                "started", "attemptStarted", "permitAcquired", "adapted", "redirected", "head", "attemptEnded",
                "finished",
            ])
        #expect(observer.reports.first?.attempts.first?.redirects.map(\.status) == [.found])

        let waiting = RecordingObserver()
        let narrow = NetworkService(environment: Fixture.environment) {
            $0.transport = manual
            $0.concurrencyLimit = ConcurrencyLimit(1)
            $0.backoffGate = nil
            $0.observers = [waiting]
        }
        let first = narrow.task(UserEndpoint.open, as: .string)
        await manual.waitForRequests()
        let second = narrow.task(UserEndpoint.open, as: .string)
        while !names(waiting).contains("waiting") { await Task.yield() }
        manual.answer()
        _ = try await first.value
        await manual.waitForRequests()
        manual.answer()
        _ = try await second.value
        let policies = waiting.events.compactMap {
            if case .waiting(.admission(let policy)) = $0.event { policy } else { nil }
        }
        #expect(policies == ["ConcurrencyLimit"])

        let nothing = RecordingObserver()
        let without = NetworkService {
            $0.transport = stub
            $0.observers = [nothing]
        }
        #expect(await Fixture.failure { try await without.request(UserEndpoint.open) } != nil)
        #expect(names(nothing) == ["started", "attemptEnded", "finished"])
        #expect((nothing.reports.first?.error as? NetworkError)?.kind == .invalidRequest)
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
        "N-32: observers are registered by endpoint type, by status or for all calls, and run once, after all retries"
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

    @Test("N-32: observers are notified of the end after the call's own callbacks")
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
        "No event follows the end of a call, and its observers and endpoint are released",
        arguments: [true, false])
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
        kept.value?[option: RequestWatch.self]?.tell(.waiting(.connectivity))
        #expect(observer.events.isEmpty)
        for _ in 0..<1_000 where canary != nil { await Task.yield() }
        #expect(canary == nil)
    }

    @Test("A call that is cancelled in the queue has one attempt, which is reported as ended")
    func cancelledInQueue() async throws {
        let manual = ManualTransport()
        let narrow = NetworkService(environment: Fixture.environment) {
            $0.transport = manual
            $0.concurrencyLimit = ConcurrencyLimit(1)
            $0.backoffGate = nil
            $0.observers = [observer]
        }
        let first = narrow.task(UserEndpoint.open, as: .string)
        await manual.waitForRequests()
        let second = narrow.task(UserEndpoint.fetch(id: "7"), as: .string)
        while !names(observer).contains("waiting") { await Task.yield() }
        second.cancel()
        _ = await Fixture.failure { _ = try await second.value }
        #expect(second.report?.attempts.count == 1)
        #expect(second.report?.attributes["http.request.method"] == "GET")
        manual.answer()
        _ = try await first.value
        while observer.reports.count < 2 { await Task.yield() }
        #expect(names(observer).filter { $0 == "attemptStarted" }.count == 2)
        #expect(names(observer).filter { $0 == "attemptEnded" }.count == 2)
    }

    @Test("The report of a derived task is the report of the last call that it reached")
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

    @Test("Progress is reported only to observers that want it, and not after the end")
    func progress() async throws {
        let counting = RecordingObserver(wantsProgress: true)
        let release = Settlement<Void>()
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = CountingTransport(release: release)
            $0.observers = [observer, counting]
        }
        async let text: String = service.request(UserEndpoint.open)
        while !names(counting).contains("progress") { await Task.yield() }
        release.settle(.success(()))
        _ = try await text
        #expect(!names(observer).contains("progress") && names(counting).last == "finished")
    }

    @Test("The calls of a token refresh are also observed, with their own ids")
    func refresh() async throws {
        let stub = StubTransport()
        stub.on(.get, "/v1/users/7", .status(.unauthorized), .json(["id": "7"]))
        stub.on(.post, "/v1/token", .text("new"))
        let account = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.observers = [observer]
        }
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
            AccessToken(try await account.request(.post("token")))
        }
        let users = UserService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = stub
            $0.observers = [observer]
        }
        _ = try await users.user("7")
        #expect(observer.reports.count == 2)
        #expect(Set(observer.events.map(\.call.id)).count == 2)
        let report = try #require(observer.reports.last)
        #expect(report.attempts.map(\.tokenGeneration) == [0, 1])
    }
}

/// A transport that reports each request as sent, as an engine does.
private struct SendingTransport: Transport {
    let base: any Transport

    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        request[option: RequestWatch.self]?.tell(.sent(request))
        return try await base.send(request, delivering: delivery)
    }
}

/// A transport that has received some bytes and waits before it returns the response.
private struct CountingTransport: Transport {
    let release: Settlement<Void>

    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        request[option: ProgressOption.self]?.beginDownload(of: 5)
        request[option: ProgressOption.self]?.noteReceived(3)
        try await release.value()
        return HTTPResponse(.ok, content: .data(Data("12345".utf8)), to: request)
    }
}
