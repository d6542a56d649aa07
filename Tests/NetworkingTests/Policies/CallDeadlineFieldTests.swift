import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("The fields of inherited deadlines", .endsInTime)
struct CallDeadlineFieldTests {
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
        configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.errorMapping = .unmapped
            configure(&$0)
        }
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
}
