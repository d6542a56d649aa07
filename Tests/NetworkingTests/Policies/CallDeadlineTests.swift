import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Inherited deadlines", .endsInTime)
struct CallDeadlineTests {
    private struct Elsewhere: Endpoint {
        let path: EndpointPath = "x"
        var baseURL: URL { URL(string: "https://other.example") ?? NetworkEnvironment.noBaseURL }
    }

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

    @Test(
        "A field is read as a duration; if it cannot be read, or is longer, the default counts",
        arguments: [
            (.milliseconds("X-Timeout"), "250", 250), (.milliseconds("X-Timeout"), "0", 0),
            (.milliseconds("X-Timeout"), "-5", 10_000), (.milliseconds("X-Timeout"), "2.5", 10_000),
            (.milliseconds("X-Timeout"), "", 10_000), (.milliseconds("X-Timeout"), "250 ms", 10_000),
            (.milliseconds("X-Timeout"), "250, 300", 10_000), (.milliseconds("X-Timeout"), "10001", 10_000),
            (.milliseconds("X-Timeout"), "99999999999999999999999999", 10_000),
            (.milliseconds("X-Timeout"), "999999999999999999", 10_000),
            (.milliseconds("X-Timeout"), "Sun, 06 Nov 1994 08:49:37 GMT", 10_000),
            (.grpcTimeout, "250m", 250), (.grpcTimeout, "1S", 1_000), (.grpcTimeout, "2000000u", 2_000),
            (.grpcTimeout, "5000000n", 5), (.grpcTimeout, "1M", 10_000), (.grpcTimeout, "99999999H", 10_000),
            (.grpcTimeout, "123456789m", 10_000), (.grpcTimeout, "250", 10_000), (.grpcTimeout, "m", 10_000),
            (.grpcTimeout, "1s", 10_000), (.grpcTimeout, "+1S", 10_000), (.grpcTimeout, "1SS", 10_000),
        ] as [(CallDeadline.Field, String, Int)])
    func fields(field: CallDeadline.Field, value: String, expected: Int) async {
        let headers: HTTPHeaders = [field.name: value]
        let left = await CallDeadline.withValue(
            from: headers, in: field, default: .seconds(10), on: clock.networkClock
        ) { CallDeadline.current?.remaining }
        #expect(left == .milliseconds(expected))
        let absent = await CallDeadline.withValue(from: [:], in: field, default: .seconds(3), on: clock.networkClock) {
            CallDeadline.current?.remaining
        }
        #expect(absent == .seconds(3) && CallDeadline.current == nil)
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
        #expect(error.reason?.contains("within 1 s") == true, "\(error)")
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

    @Test("The adapter sends what is left, less in a retry, and nothing without a deadline")
    func adapter() async throws {
        stub.on(nil, nil, .status(.serviceUnavailable), .text("there"), .text("there"))
        let service = service {
            $0.retry = RetryPolicy(retries: 1, backoff: .constant(.seconds(1)))
            $0.requestAdaptingService = RequestAdaptingService([
                CallDeadline.Adapter(.milliseconds("X-Left")), CallDeadline.Adapter(.grpcTimeout),
            ])
        }
        let task = await CallDeadline.withValue(.milliseconds(2_500), on: clock.networkClock) {
            service.task(UserEndpoint.open, as: .string)
        }
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        _ = try await task.value
        _ = try await service.request(UserEndpoint.open) as String
        #expect(stub.requests.map { $0.headers["X-Left"] } == ["2500", "1500", nil])
        #expect(stub.requests.map { $0.headers["grpc-timeout"] } == ["2500m", "1500m", nil])
    }

    @Test("The adapter keeps a field that is set, and tells other servers nothing by default")
    func otherServers() async throws {
        stub.on(nil, nil, .text("there"))
        let settings = RequestSettings { $0.timeouts.total = .seconds(3) }
        for (includes, expected) in [(false, nil), (true, "3000")] as [(Bool, String?)] {
            let service = service {
                $0.requestAdaptingService = RequestAdaptingService([
                    CallDeadline.Adapter(.milliseconds("X-Left"), includesOtherOrigins: includes)
                ])
            }
            _ = try await service.request(Elsewhere(), with: settings) as String
            #expect(stub.requests.last?.headers["X-Left"] == expected)
            let own = AdHocEndpoint.get("x").headers(["X-Left": "9"])
            _ = try await service.request(own, with: settings) as String
            #expect(stub.requests.last?.headers["X-Left"] == "9")
        }
    }

    @Test(
        "The gRPC value has at most eight digits, is rounded down, and is never zero",
        arguments: [
            (.milliseconds(250), "250m"), (.nanoseconds(10), "1m"), (.zero, "1m"), (.seconds(-3), "1m"),
            (.seconds(99_999), "99999000m"), (.seconds(100_000), "100000S"), (.seconds(200_000_000), "3333333M"),
            (.seconds(Int64.max), "2562047H"), (.microseconds(2_999), "2m"),
        ] as [(Duration, String)])
    func values(time: Duration, expected: String) {
        #expect(CallDeadline.Field.grpcTimeout.value(of: time) == expected)
    }
}
