import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Inherited deadlines", .endsInTime)
struct CallDeadlineTests {
    private let clock = ManualClock()
    private let stub: StubTransport

    init() {
        stub = StubTransport(clock: clock.networkClock)
    }

    private func service(
        session: AccessTokenSupervisor? = nil, configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.errorMapping = .unmapped
            configure(&$0)
        }
    }

    private func failure(_ call: () async throws -> Void) async throws -> NetworkError {
        try #require(await Fixture.failure(call) as? NetworkError)
    }

    @Test("A call ends at the inherited deadline, and says why")
    func ends() async throws {
        stub.on(nil, nil, .text("late").delayed(by: .seconds(9)))
        let service = service()
        let task = await CallDeadline.withValue(.seconds(2), on: clock.networkClock) {
            service.task(UserEndpoint.open, as: .string)
        }
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(2))
        let error = try await failure { _ = try await task.value }
        #expect(error.kind == .deadlineTimedOut && error.reason?.contains("CallDeadline") == true, "\(error)")
    }

    @Test("Deadlines of others do not open the circuit breaker; the call's own timeouts do", arguments: [true, false])
    func breaker(isInherited: Bool) async throws {
        stub.on(nil, nil, .text("slow").delayed(by: .seconds(9)))
        let breaker = CircuitBreaker(minimumCalls: 3, clock: clock.networkClock)
        let (service, clock) = (service { $0.circuitBreaker = breaker }, clock)
        let settings = RequestSettings { if !isInherited { $0.timeouts.total = .seconds(1) } }
        for _ in 0..<3 {
            let task = await CallDeadline.withValue(.seconds(isInherited ? 1 : 60), on: clock.networkClock) {
                service.task(UserEndpoint.open, as: .string, with: settings)
            }
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(1))
            #expect(try await failure { _ = try await task.value }.kind == .deadlineTimedOut)
        }
        let origin = try #require(Fixture.environment.baseURL.flatMap { HTTPOrigin($0) })
        #expect(breaker.state(of: origin) == (isInherited ? .closed : .open))
    }

    @Test("The earlier deadline counts: the call's own one, and of two inherited ones the outer one")
    func earlier() async throws {
        stub.on(nil, nil, .text("late").delayed(by: .seconds(9)))
        let (service, clock) = (service(), clock)
        let settings = RequestSettings { $0.timeouts.total = .seconds(1) }
        let task = await CallDeadline.withValue(.seconds(2), on: clock.networkClock) {
            service.task(UserEndpoint.open, as: .string, with: settings)
        }
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        let error = try await failure { _ = try await task.value }
        #expect(error.reason?.contains("total timeout of 1 s") == true, "\(error)")
        let left = await CallDeadline.withValue(.seconds(2), on: clock.networkClock) {
            await CallDeadline.withValue(.seconds(5), on: clock.networkClock) { CallDeadline.current?.remaining }
        }
        #expect(left == .seconds(2))
    }

    @Test(
        "If no time is left, nothing is sent, and no duration traps",
        arguments: [.zero, .seconds(-1), .seconds(Int64.min)] as [Duration])
    func nothingLeft(limit: Duration) async throws {
        stub.on(nil, nil, .text("there"))
        let service = service()
        let error = try await CallDeadline.withValue(limit, on: clock.networkClock) {
            try await failure { try await service.request(UserEndpoint.open) }
        }
        #expect(error.kind == .deadlineTimedOut)
        #expect(stub.requests.isEmpty)
        let text = try await CallDeadline.withValue(.seconds(Int64.max), on: clock.networkClock) {
            try await service.request(UserEndpoint.open) as String
        }
        #expect(text == "there")
    }

    @Test("A retry that needs more time than is left is not begun, and the error says so")
    func retry() async throws {
        stub.on(nil, nil, .status(.serviceUnavailable))
        let service = service { $0.retry = RetryPolicy(retries: 3, backoff: .constant(.milliseconds(450))) }
        let error = try await CallDeadline.withValue(.milliseconds(180), on: clock.networkClock) {
            try await failure { try await service.request(UserEndpoint.open) }
        }
        #expect(error.status == .serviceUnavailable)
        #expect("\(error)".contains("not retried: 180 ms left before the deadline, the retry needs 450 ms"), "\(error)")
        #expect(stub.requests.count == 1)
    }

    @Test("A wait at a closed gate that ends after the deadline is not begun")
    func gate() async throws {
        stub.on(nil, nil, StubResponse(.serviceUnavailable, headers: [.retryAfter: "5"]))
        let service = service()
        _ = await Fixture.failure { try await service.request(UserEndpoint.open) }
        let error = try await CallDeadline.withValue(.seconds(4), on: clock.networkClock) {
            try await failure { try await service.request(UserEndpoint.open) }
        }
        #expect(error.kind == .deadlineTimedOut && stub.requests.count == 1)
    }

    @Test("The walk of a refused call: its refresh begins, goes on after the deadline, and the next call has the token")
    func refusedCall() async throws {
        let (stub, clock) = (stub, clock)
        stub.on(.get, "/v1/users/7") { request in
            request.headers.authorization == .bearer("new") ? .text("there") : .status(.unauthorized)
        }
        let isIssued = Settlement<Void>()
        stub.on(.post, "/v1/refresh") { _ in
            try await isIssued.value()
            return .text("new")
        }
        let seen = Box<[Duration?]>([])
        let refresher = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.requestAdaptingService = RequestAdaptingService([CallDeadline.Adapter(.milliseconds("X-Left"))])
        }
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: clock.networkClock) { _ in
            seen.change { $0.append(CallDeadline.current?.remaining) }
            return AccessToken(try await refresher.request(.post("refresh")) as String)
        }
        let service = service(session: session)
        let task = await CallDeadline.withValue(.seconds(2), on: clock.networkClock) {
            service.task(UserEndpoint.fetch(id: "7"), as: .string)
        }
        while stub.requests.count < 2 { await Task.yield() }
        clock.advance(by: .seconds(2))
        #expect(try await failure { _ = try await task.value }.kind == .deadlineTimedOut)
        isIssued.settle(.success(()))
        #expect(try await service.request(UserEndpoint.fetch(id: "7")) as String == "there")
        #expect(seen.value == [nil], "the refresh has no deadline")
        #expect(stub.requests.filter { $0.url.lastPathComponent == "refresh" }.count == 1)
        #expect(stub.requests.allSatisfy { $0.headers["X-Left"] == nil })
    }

    @Test("A deadline that a refresh sets for its own calls counts")
    func ownDeadlineOfARefresh() async throws {
        stub.on(.get, "/v1/users/7", .status(.unauthorized))
        let seen = Box<[Duration?]>([])
        let clock = clock
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: clock.networkClock) { _ in
            await CallDeadline.withValue(.seconds(5), on: clock.networkClock) {
                seen.change { $0.append(CallDeadline.current?.remaining) }
            }
            throw AccessToken.Rejected()
        }
        let service = service(session: session)
        _ = await Fixture.failure { _ = try await service.request(UserEndpoint.fetch(id: "7")) as String }
        #expect(seen.value == [.seconds(5)])
    }

    @Test("An event stream does not wait for a connection that would begin after the deadline")
    func streams() async throws {
        stub.on(
            nil, nil, StubResponse(.ok, headers: [.contentType: "text/event-stream"], body: Data("data: a\n\n".utf8)))
        let service = service()
        let error = try await CallDeadline.withValue(.seconds(2), on: clock.networkClock) {
            try await failure {
                for try await _ in service.events(.get("news"), reconnecting: .init(delay: .seconds(60))) {}
            }
        }
        #expect(error.kind == .deadlineTimedOut && stub.requests.count == 1)
    }

    @Test("A transfer that another call has joined goes on after the deadline of the call that began it")
    func duplicates() async throws {
        let (manual, joined, limit) = (ManualTransport(), Box(0), ConcurrencyLimit())
        let service = service {
            $0.transport = manual
            $0.concurrencyLimit = limit
            $0.duplicates = DuplicateRequestPolicy { _, _ in
                joined.change { $0 += 1 }
                return .join
            }
        }
        let first = await CallDeadline.withValue(.seconds(2), on: clock.networkClock) {
            service.task(UserEndpoint.open, as: .string)
        }
        await manual.waitForRequests()
        let second = service.task(UserEndpoint.open, as: .string)
        while joined.value < 1 || limit.activeCount > 1 { await Task.yield() }
        clock.advance(by: .seconds(2))
        #expect(try await failure { _ = try await first.value }.kind == .deadlineTimedOut)
        #expect(manual.endedCount == 0)
        manual.answer(.ok, "shared")
        #expect(try await second.value == "shared")
        #expect(manual.count == 1)
    }
}
