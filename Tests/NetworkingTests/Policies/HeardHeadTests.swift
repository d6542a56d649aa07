import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Policies hear the head of a response before its body has arrived: a body that stalls refuses nobody.
@Suite("Policies hear the head of a response", .endsInTime)
struct HeardHeadTests {
    let clock = ManualClock()
    let log = Box<[String]>([])

    func service(
        _ transport: any Transport, session: AccessTokenSupervisor? = nil,
        _ set: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = transport
            $0.clock = clock.networkClock
            $0.retry = nil
            set(&$0)
        }
    }

    func listening(_ names: String...) -> (inout NetworkConfiguration) -> Void {
        { [log] in $0.admissionPolicies = names.map { ListeningPolicy($0, log) } }
    }

    @Test("Each policy hears the head once, before the body, and gets its permit back afterwards, in opposite order")
    func order() async throws {
        let server = SlowBodyTransport(.ok)
        let task = service(server, listening("a", "b")).task(UserEndpoint.open, as: .string)
        await server.head.wait()
        #expect(log.value == ["b heard 200, 0 bytes", "a heard 200, 0 bytes"])
        server.end()
        #expect(try await task.value == "body")
        #expect(log.value.dropFirst(2) == ["b left", "a left"])
    }

    @Test("If a transport reports no heads, the policies hear the head when the attempt ends")
    func unreported() async throws {
        try await service(StubTransport { _ in .text("body") }, listening("a", "b")).request(UserEndpoint.open)
        #expect(log.value == ["b heard 200, 4 bytes", "a heard 200, 4 bytes", "b left", "a left"])
    }

    @Test("Without a head, nothing is heard")
    func failure() async {
        let server = StubTransport { _ in .failure(NetworkError(.cannotConnect)) }
        _ = await Fixture.failure { try await service(server, listening("a")).request(UserEndpoint.open) }
        #expect(log.value == ["a left"])
    }

    @Test("After redirects, only the last head is heard; a redirect that is not followed is heard, too")
    func redirects() async throws {
        let server = SlowBodyTransport(.ok)
        let redirecting = RedirectingTransport(server)
        let task = service(redirecting, listening("a")).task(UserEndpoint.open, as: .string)
        await server.head.wait()
        server.end()
        _ = try await task.value
        #expect(log.value == ["a heard 200, 0 bytes", "a left"])
        log.change { $0 = [] }
        let service = service(redirecting) {
            $0.redirects = .ignore
            listening("a")(&$0)
        }
        _ = await Fixture.failure { try await service.request(UserEndpoint.open) }
        #expect(log.value == ["a heard 302, 0 bytes", "a left"])
    }

    @Test("A stored response is not heard; the validation of one is")
    func stored() async throws {
        let server = StubTransport { request in
            request.headers.contains(.ifNoneMatch)
                ? .status(.notModified) : .text("body", headers: [.cacheControl: "max-age=60", .eTag: "\"1\""])
        }
        let service = service(server) {
            $0.cache = ResponseCache(clock: clock.networkClock)
            listening("a")(&$0)
        }
        for _ in 0..<2 { _ = try await service.request(UserEndpoint.open, as: .string) }
        #expect(log.value == ["a heard 200, 4 bytes", "a left", "a left"])
        clock.advance(by: .seconds(61))
        log.change { $0 = [] }
        _ = try await service.request(UserEndpoint.open, as: .string)
        #expect(log.value.first?.hasPrefix("a heard") == true && log.value.last == "a left" && log.value.count == 2)
    }

    @Test("A call that shares the transfer of another call hears nothing")
    func shared() async throws {
        let server = SlowBodyTransport(.ok)
        let service = service(server) {
            $0.duplicates = .always(.join)
            listening("a")(&$0)
        }
        let first = service.task(UserEndpoint.open, as: .string)
        await server.head.wait()
        let second = service.task(UserEndpoint.open, as: .string)
        while !log.value.contains("a left") { await Task.yield() }
        server.end()
        #expect(try await first.value == "body")
        #expect(try await second.value == "body")
        #expect(log.value == ["a heard 200, 0 bytes", "a left", "a left"])
    }

    @Test("If an attempt ends while a policy hears the head, the permit is returned afterwards, once")
    func endedMeanwhile() async throws {
        let context = TransferContext()
        let policy = ListeningPolicy("a", log) { context.admission?.end(after: nil) }
        var request = HTTPRequest(.get, try #require(URL(string: "https://a.example/")))
        request.belong(to: context)
        let admitted = try await Admission([policy]).enter(request, for: UserEndpoint.open)
        admitted.lend(to: context)
        context.receive(ResponseHead(status: .ok, headers: []), to: request)
        #expect(log.value == ["a heard 200, 0 bytes", "a left"])
        #expect(!context.isHeld)
        context.receive(ResponseHead(status: .ok, headers: []), to: request)
        admitted.end(.notSent)
        #expect(log.value.count == 2)
    }

    @Test("After a transfer has taken the permits over, it hears for them; the call can no longer return them")
    func handedOver() async throws {
        let context = TransferContext()
        var request = HTTPRequest(.get, try #require(URL(string: "https://a.example/")))
        request.belong(to: context)
        let admitted = try await Admission([ListeningPolicy("a", log)]).enter(request, for: UserEndpoint.open)
        admitted.lend(to: context)
        let moved = try #require(context.admission?.handOver())
        #expect(!context.isHeld && moved.isHeld && context.admission?.handOver() == nil)
        admitted.end(.notSent)
        #expect(log.value == [])
        context.receive(ResponseHead(status: .ok, headers: []), to: request)
        #expect(log.value == ["a heard 200, 0 bytes"])
        let again = try #require(moved.handOver())
        moved.end(after: nil)
        #expect(log.value.count == 1)
        again.end(after: nil)
        #expect(log.value == ["a heard 200, 0 bytes", "a left"])
    }
}
