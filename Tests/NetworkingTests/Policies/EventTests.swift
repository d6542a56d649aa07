import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Events", .endsInTime)
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

    @Test("Observers are notified of each step of a call, before and after each attempt is sent", .row("I-37"))
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

    @Test("Progress is reported only to observers that request progress, and never after the call has ended")
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
        while !names(counting).contains("finished") { await Task.yield() }
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
        request.parts.transfer?.report(.sent(request))
        return try await base.send(request, delivering: delivery)
    }
}

/// A transport that receives some bytes and waits for `release` before it returns the response.
private struct CountingTransport: Transport {
    let release: Settlement<Void>

    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        request.progress?.beginDownload(at: 0, of: 5)
        request.progress?.noteReceived(3)
        try await release.value()
        return HTTPResponse(.ok, content: .data(Data("12345".utf8)), to: request)
    }
}
