import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Cached responses that are validated while they are used", .endsInTime)
struct CacheRevalidationTests {
    private struct Get: Endpoint {
        let path: EndpointPath = "items"
    }

    private let clock = ManualClock()
    private let stub = StubTransport()
    private let responses = GivenResponses()
    private let cache: ResponseCache

    init() {
        cache = ResponseCache(clock: clock.networkClock)
        stub.on(nil, nil) { [responses] _ in await responses.next() }
    }

    @Test("If stale-while-revalidate permits it, a stale response is used at once and validated in the background")
    func revalidatedMeanwhile() async throws {
        let limit = ConcurrencyLimit(2)
        let service = NetworkService(environment: Fixture.environment) {
            $0.cache = cache
            $0.clock = clock.networkClock
            $0.transport = stub
            $0.concurrencyLimit = limit
        }
        await responses.give("one")
        #expect(try await service.request(Get()) == "one")
        clock.advance(by: .seconds(61))
        for _ in 0..<3 {
            let response = try await service.response(Get()) as Response<String>
            #expect(response.value == "one" && response.http.source == .cache)
        }
        while stub.requests.count < 2 { await Task.yield() }
        #expect(limit.activeCount == 1, "the validation has the permit of its call")
        await responses.give("two")
        while try await service.request(Get()) == "one" { await Task.yield() }
        #expect(try await service.request(Get()) == "two")
        while limit.activeCount > 0 { await Task.yield() }  // the response is stored before the permit is returned
        #expect(stub.requests.count == 2, "at most one validation of a URL runs at a time")
        clock.advance(by: .seconds(61))
        // The next validation begins when the first one has ended.
        while stub.requests.count < 3 { #expect(try await service.request(Get()) == "two") }
        await responses.give("three")
        while try await service.request(Get()) == "two" { await Task.yield() }
        #expect(try await service.request(Get()) == "three", "a later validation is not prevented by the first one")
    }

    @Test("A validator of more than 1 KiB is not sent back, because a server could refuse it for ever")
    func longValidators() async throws {
        let service = NetworkService(environment: Fixture.environment) {
            $0.cache = cache
            $0.clock = clock.networkClock
            $0.transport = stub
        }
        for (length, isSent) in [(1_022, true), (1_023, false), (90_000, false)] {
            let tag = "\"\(String(repeating: "x", count: length))\""
            let date = "Sun\(String(repeating: "x", count: length)), 06 Nov 1994 08:49:37 GMT"
            stub.on(
                nil, nil, .text("ok", headers: [.cacheControl: "no-cache", .eTag: tag, .lastModified: date]))
            for _ in 0..<2 { _ = try await service.request(Get()) }
            let headers = try #require(stub.requests.last?.headers)
            #expect(headers.contains(.ifNoneMatch) == isSent)
            #expect(!headers.contains(.ifModifiedSince))
            cache.removeAll()
        }
    }

    @Test("If a server finds a head with the condition of the cache too large, the request is sent without it")
    func headTooLarge() async throws {
        let service = NetworkService(environment: Fixture.environment) {
            $0.cache = cache
            $0.clock = clock.networkClock
            $0.transport = stub
        }
        stub.on(nil, nil) { request in
            request.headers.contains(.ifNoneMatch)
                ? StubResponse(HTTPStatus(431))
                : .text("ok", headers: [.cacheControl: "no-cache", .eTag: "\"1\""])
        }
        for _ in 0..<2 { #expect(try await service.request(Get()) == "ok") }
        #expect(stub.requests.map { $0.headers.contains(.ifNoneMatch) } == [false, true, false])
    }

    @Test("The cookies of a background validation are stored")
    func cookies() async throws {
        let jar = CookieJar()
        let service = NetworkService(environment: Fixture.environment) {
            $0.cache = cache
            $0.clock = clock.networkClock
            $0.cookies = jar
            $0.transport = stub
        }
        await responses.give("one")
        #expect(try await service.request(Get()) == "one")
        clock.advance(by: .seconds(61))
        await responses.give("two", [.setCookie: "a=1"])
        #expect(try await service.request(Get()) == "one")
        while jar.cookies.isEmpty { await Task.yield() }
        #expect(jar.cookies.count == 1)
    }

    @Test("A reset cancels a background validation and waits until the validation has ended")
    func reset() async throws {
        let limit = ConcurrencyLimit(2)
        let isCancelled = Box(false)
        let service = NetworkService(environment: Fixture.environment) {
            $0.cache = cache
            $0.clock = clock.networkClock
            $0.concurrencyLimit = limit
            $0.transport = stub
        }
        await responses.give("one")
        #expect(try await service.request(Get()) == "one")
        clock.advance(by: .seconds(61))
        stub.on(nil, nil) { _ in
            do { try await Task.sleep(for: .seconds(3_600)) } catch { isCancelled.change { $0 = true } }
            return .failure(.cancelled)
        }
        #expect(try await service.request(Get()) == "one")
        while stub.requests.count < 2 { await Task.yield() }
        await service.reset()
        #expect(isCancelled.value)
        #expect(limit.activeCount == 0)
    }

    @Test("A reset that a transport makes during a validation does not wait for this validation")
    func resetInside() async throws {
        let service = Box<NetworkService?>(nil)
        let hasReset = Box(false)
        let made = NetworkService(environment: Fixture.environment) {
            $0.cache = cache
            $0.clock = clock.networkClock
            $0.transport = stub
        }
        service.change { $0 = made }
        defer { service.change { $0 = nil } }
        await responses.give("one")
        #expect(try await service.value?.request(Get(), as: .string) == "one")
        clock.advance(by: .seconds(61))
        // The call that uses the stored response must be over, because a reset ends it, too.
        let isAnswered = Box(false)
        stub.on(nil, nil) { _ in
            while !isAnswered.value { await Task.yield() }
            await service.value?.reset()
            hasReset.change { $0 = true }
            return .failure(.cancelled)
        }
        #expect(try await service.value?.request(Get(), as: .string) == "one")
        isAnswered.change { $0 = true }
        while !hasReset.value { await Task.yield() }
    }
}

extension CacheRevalidationTests {
    /// Records for each attempt why it failed.
    private struct FailurePolicy: AdmissionPolicy {
        let failures = Box<[NetworkError.Kind?]>([])

        func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? { AdmissionPermit() }
        func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async -> AdmissionPermit { AdmissionPermit() }
        func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {
            let error: (any Error)? = if case .failed(let error) = outcome { error } else { nil }
            failures.change { $0.append((error as? NetworkError)?.kind) }
        }
    }

    @Test(
        "A background validation ends after 30 s, or after the call's total time-out, and returns its permit",
        arguments: [(Duration?.none, 30), (.seconds(3), 3), (.seconds(600), 30)])
    func endless(total: Duration?, seconds: Int) async throws {
        let limit = ConcurrencyLimit(2)
        let policy = FailurePolicy()
        let service = NetworkService(environment: Fixture.environment) {
            $0.cache = cache
            $0.clock = clock.networkClock
            $0.admissionPolicies = [limit, policy]
            $0.transport = stub
        }
        await responses.give("one")
        #expect(try await service.request(Get()) == "one")
        clock.advance(by: .seconds(61))
        let ends = Box(0)
        stub.on(nil, nil) { _ in
            do { try await Task.sleep(for: .seconds(3_600)) } catch { ends.change { $0 += 1 } }
            return .failure(.cancelled)
        }
        #expect(try await service.request(.get("items").settings { $0.timeouts.total = total }, as: .string) == "one")
        while stub.requests.count < 2 { await Task.yield() }
        clock.advance(by: .seconds(seconds) - .milliseconds(1))
        for _ in 0..<100 { await Task.yield() }
        #expect(ends.value == 0 && limit.activeCount == 1)
        clock.advance(by: .milliseconds(1))
        while limit.activeCount > 0 || policy.failures.value.count < 2 { await Task.yield() }
        #expect(ends.value == 1)
        #expect(policy.failures.value == [nil, .deadlineTimedOut], "a circuit breaker counts it")
    }

    @Test("If a cancelled validation resets the service, its reset does not wait for the reset that cancelled it")
    func resetAfterCancellation() async throws {
        let service = Box<NetworkService?>(nil)
        let made = NetworkService(environment: Fixture.environment) {
            $0.cache = cache
            $0.clock = clock.networkClock
            $0.transport = stub
        }
        service.change { $0 = made }
        defer { service.change { $0 = nil } }
        await responses.give("one")
        #expect(try await made.request(Get(), as: .string) == "one")
        clock.advance(by: .seconds(61))
        stub.on(nil, nil) { _ in
            do { try await Task.sleep(for: .seconds(3_600)) } catch { await service.value?.reset() }
            return .failure(.cancelled)
        }
        #expect(try await made.request(Get(), as: .string) == "one")
        while stub.requests.count < 2 { await Task.yield() }
        await made.reset()
        #expect(cache.count == 0)
    }
}

/// Responses that a test gives one after another. Each response is fresh for a minute. For another minute, it can be
/// used while it is validated.
private actor GivenResponses {
    private var given: [StubResponse] = []
    private var waiting: [CheckedContinuation<StubResponse, Never>] = []

    func give(_ text: String, _ headers: HTTPHeaders = [:]) {
        let response = StubResponse(
            .ok, headers: headers.merging([.cacheControl: "max-age=60, stale-while-revalidate=60"]),
            body: Data(text.utf8))
        if waiting.isEmpty { given.append(response) } else { waiting.removeFirst().resume(returning: response) }
    }

    func next() async -> StubResponse {
        given.isEmpty ? await withCheckedContinuation { waiting.append($0) } : given.removeFirst()
    }
}
