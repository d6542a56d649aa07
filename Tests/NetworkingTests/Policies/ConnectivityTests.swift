import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Waiting for connectivity", .endsInTime)
struct ConnectivityTests {
    private let clock = ManualClock()
    private let probe = StubProbe(.notReachable)
    private let observer = RecordingObserver()

    private func service(
        _ transport: any Transport, total: Duration? = nil, patience: Duration = .seconds(60)
    ) -> NetworkService {
        let reachability = ReachabilityService(probe: probe, clock: clock.networkClock)
        return NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.errorHandlingService = ErrorHandlingService([
                ConnectivityErrorHandler(reachability, waitingAtMost: patience), GeneralErrorHandler(),
            ])
            $0.settings = RequestSettings { $0.timeouts.total = total }
            $0.observers = [observer]
            $0.clock = clock.networkClock
        }
    }

    private func waitForProbe(_ count: Int) async {
        while probe.count < count { await Task.yield() }
    }

    @Test("A call without a connection waits for a connection and then succeeds; observers get the reason")
    func waits() async throws {
        let stub = StubTransport()
        stub.on(nil, nil, .failure(.notConnected), .text("there"))
        let service = service(stub)
        let task = service.task(UserEndpoint.open, as: .string)
        await waitForProbe(1)
        #expect(stub.requests.count == 1)
        await clock.waitForSleepers(within: .seconds(1))  // the pause between two checks
        if case .waitingForNetwork = task.state {} else { Issue.record("\(task.state)") }
        probe.set(.reachable(.wireless))
        clock.advance(by: .seconds(1))
        #expect(try await task.value == "there")
        let waits = observer.events.filter { if case .waiting(.connectivity) = $0.event { true } else { false } }
        #expect(waits.count == 1)
        let report = try #require(observer.reports.first)
        #expect(report.attempts.first?.decision?.reason == "the network can be reached")
        #expect(report.duration == .seconds(1))
    }

    @Test("A status that is not known is no outage: a lost connection does not wait for it, and no call is repeated")
    func unknown() async throws {
        probe.set(.unknown)
        let stub = StubTransport()
        stub.on(.get, nil, .failure(.connectionLostBeforeHead))
        stub.on(.head, nil, .failure(.notConnected), .text(""))
        let service = service(stub)
        await #expect(throws: NetworkError.self) { try await service.request(.get("x")) }
        #expect(stub.requests.count == 1 && probe.count == 0)
        await #expect(throws: (any Error).self) { try await service.request(.head("x")) }
        #expect(stub.requests.count == 2)
        let report = try #require(observer.reports.last)
        let reasons = report.attempts.flatMap(\.decisions).map(\.reason)
        #expect(reasons.contains("it is not known whether the network can be reached"), "\(reasons)")
    }

    @Test("The wait ends at the call's deadline and when the call is cancelled")
    func ends() async throws {
        let stub = StubTransport { _ in .failure(.notConnected) }
        let service = service(stub, total: .seconds(3))
        async let late = Fixture.failure { try await service.request(UserEndpoint.open) }
        await clock.waitForSleepers(2, within: .seconds(3))  // the deadline, and the pause between two checks
        clock.advance(by: .seconds(3))
        #expect(await late as? GeneralRequestError == .timedOut)
        let task = service.task(UserEndpoint.open, as: .void)
        while stub.requests.count < 2 { await Task.yield() }
        await clock.waitForSleepers(2, within: .seconds(3))
        task.cancel()
        #expect(await Fixture.failure { try await task.value } as? GeneralRequestError == .cancelled)
        #expect(stub.requests.count == 2)
    }

    @Test("If no network becomes available in time, the call ends with its original error")
    func patience() async throws {
        let stub = StubTransport { _ in .failure(.notConnected) }
        let service = service(stub, patience: .seconds(2))
        async let error = Fixture.failure { try await service.request(UserEndpoint.open) }
        await clock.waitForSleepers(2, within: .seconds(2))  // the limit, and the pause between two checks
        clock.advance(by: .seconds(2))
        #expect(await error as? GeneralRequestError == .noInternetConnection)
        #expect(observer.reports.first?.attempts.first?.decision?.reason == "the network was not reachable within 2 s")
    }

    @Test("The first attempt does not check reachability; failures with another cause do not wait for a connection")
    func hint() async throws {
        let stub = StubTransport()
        stub.on(nil, nil, .text("there"), .status(.serviceUnavailable))
        let service = service(stub)
        #expect(try await service.request(UserEndpoint.open) as String == "there")
        let error = await Fixture.failure { try await service.request(UserEndpoint.open) } as? NetworkError
        #expect(error?.status == .serviceUnavailable && probe.count == 0)
    }

    @Test("A POST that may have reached the server does not wait; a POST that was never sent waits")
    func unsafe() async throws {
        let stub = StubTransport()
        stub.on(nil, nil, .failure(.connectionLostBeforeHead), .failure(.cannotResolveHost), .text("there"))
        let service = service(stub)
        let lost = await Fixture.failure { try await service.request(.post("open")) } as? NetworkError
        #expect(lost?.kind == .connectionLostBeforeHead)
        async let text: String = service.request(.post("open"))
        await clock.waitForSleepers(within: .seconds(1))  // the pause between two checks
        probe.set(.reachable(.wired))
        clock.advance(by: .seconds(1))
        #expect(try await text == "there")
    }

    @Test("If the system wrongly reports that the network is reachable, the waits before retries grow up to 32 s")
    func pauses() async throws {
        probe.set(.reachable(.wired))
        let stub = StubTransport { _ in .failure(.notConnected) }
        let service = service(stub, patience: .seconds(1_000_000))
        async let error = Fixture.failure { try await service.request(UserEndpoint.open) }
        while observer.reports.isEmpty {
            clock.advance(by: .seconds(1))
            await Task.yield()
        }
        #expect(await error as? GeneralRequestError == .noInternetConnection)
        #expect(stub.requests.count == 10)
        #expect(observer.reports.first?.waits == [0, 1, 2, 4, 8, 16, 32, 32, 32].map { .seconds($0) })
    }

    @Test("A redirected POST is not sent again, even if the next request of the redirect chain fails")
    func redirected() async throws {
        let stub = StubTransport()
        stub.on(.post, "/v1/orders", StubResponse(.seeOther, headers: [.location: "/v1/done"]))
        stub.on(.get, "/v1/done", .failure(.notConnected))
        let error = await Fixture.failure { try await service(stub).request(.post("orders")) }
        #expect(error as? GeneralRequestError == .noInternetConnection)
        #expect(stub.requests.map(\.method) == [.post, .get])
    }

    @Test("A slow probe blocks no waiter: a timeout and a cancellation end the wait at once; waiters share a check")
    func slowLook() async throws {
        let slow = SlowProbe()
        let reachability = ReachabilityService(probe: slow, clock: clock.networkClock)
        async let patient = reachability.waitUntilReachable(atMost: .seconds(1))
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(try await !patient)
        let cancelled = Task { try await reachability.waitUntilReachable() }
        let many = (0..<100).map { _ in Task { try await reachability.waitUntilReachable() } }
        cancelled.cancel()
        await #expect(throws: (any Error).self) { try await cancelled.value }
        slow.answer(.reachable(.wired))
        for waiter in many { #expect(try await waiter.value) }
        #expect(slow.count < 10)
        #expect(reachability.status == .reachable(.wired), "a wait that ended early did not report a wrong status")
    }

    @Test("Requests of the probe itself do not wait for the network")
    func ownProbe() async throws {
        let stub = StubTransport { _ in .failure(.notConnected) }
        let held = Box<NetworkService?>(nil)
        struct HealthProbe: ReachabilityProbe {
            let service: Box<NetworkService?>

            func status() async -> ReachabilityStatus {
                let isUp = (try? await service.value?.request(.get("health"))) != nil
                return isUp ? .reachable(.wired) : .notReachable
            }
        }
        let reachability = ReachabilityService(probe: HealthProbe(service: held), clock: clock.networkClock)
        held.change {
            $0 = NetworkService(environment: Fixture.environment) {
                $0.transport = stub
                $0.errorHandlingService = ErrorHandlingService([ConnectivityErrorHandler(reachability)])
            }
        }
        #expect(await reachability.check() == .notReachable)
        #expect(stub.requests.count == 1)
        held.change { $0 = nil }
    }
}

/// A probe whose status is pending until the test sets it.
private final class SlowProbe: ReachabilityProbe {
    private let answer = Settlement<ReachabilityStatus>()
    private let asked = Box(0)

    var count: Int { asked.value }
    func answer(_ status: ReachabilityStatus) { answer.settle(.success(status)) }

    func status() async -> ReachabilityStatus {
        asked.change { $0 += 1 }
        return (try? await answer.value()) ?? .unknown
    }

    func quickStatus() -> ReachabilityStatus { .notReachable }
}
