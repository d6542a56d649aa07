import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Nothing but the declaration of ``Tenth`` says what happens to it.
@Suite("A part that is added to the library later", .endsInTime)
struct TenthPartTests {
    /// A tenth part, of which nothing is left at the borders that it names.
    private struct Tenth: HTTPRequest.Part {
        var value: String
        var leavesOrigin: Bool
        var leavesCall: Bool
        var outsideOrigin: Tenth? { leavesOrigin ? self : nil }
        var outsideCall: Tenth? { leavesCall ? self : nil }
        var identity: [String] { [value] }
    }

    private struct Marking: SynchronousRequestAdapter {
        let leavesOrigin: Bool
        let leavesCall: Bool

        func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
            guard !request.isForeign else { return }
            let value = request.headers["X-Value"] ?? "a"
            request.parts[Tenth.self] = Tenth(value: value, leavesOrigin: leavesOrigin, leavesCall: leavesCall)
            request.headers.remove("X-Value")
        }
    }

    private let clock = ManualClock()
    private let stub = StubTransport()

    /// A service whose adapter gives each request the part, unless it has one.
    private func service(
        leavesOrigin: Bool = true, leavesCall: Bool = true, _ configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.requestAdaptingService = RequestAdaptingService([
                Marking(leavesOrigin: leavesOrigin, leavesCall: leavesCall)
            ])
            configure(&$0)
        }
    }

    private var parts: [String?] { stub.requests.map { $0.parts[Tenth.self]?.value } }

    @Test("A redirect to another origin drops or keeps it as it says", arguments: [false, true])
    func redirect(leavesOrigin: Bool) async throws {
        stub.on(nil, nil) {
            $0.url.host == "b.example"
                ? StubResponse() : StubResponse(.found, headers: [.location: "https://b.example"])
        }
        try await service(leavesOrigin: leavesOrigin, leavesCall: false).request(.get("x"))
        #expect(parts == ["a", leavesOrigin ? "a" : nil])
    }

    @Test("A redirect within the origin keeps it")
    func redirectAtHome() async throws {
        stub.on(nil, nil, StubResponse(.found, headers: [.location: "/y"]), StubResponse())
        try await service(leavesOrigin: false, leavesCall: false).request(.get("x"))
        #expect(parts == ["a", "a"])
    }

    @Test("A retry at another origin drops or keeps it as it says", arguments: [false, true])
    func retry(leavesOrigin: Bool) async throws {
        stub.on(nil, nil) { $0.url.host == "b.example" ? StubResponse() : .status(.serviceUnavailable) }
        let service = service(leavesOrigin: leavesOrigin, leavesCall: false) {
            $0.errorHandlingService = ErrorHandlingService([
                AdHocErrorHandler { failure in
                    guard failure.attempt == 1, var request = failure.request,
                        let url = URL(string: "https://b.example")
                    else { return .next(failure.error) }
                    request.url = url
                    return .retry(with: request)
                }
            ])
        }
        try await service.request(.get("x"))
        #expect(parts == ["a", leavesOrigin ? "a" : nil])
    }

    @Test(
        "A retry at an origin to which a redirect has already led drops it, and a retry at home keeps it",
        arguments: [false, true])
    func retryAfterRedirect(isMoved: Bool) async throws {
        stub.on(nil, nil) {
            $0.url.host == "b.example"
                ? .status(.serviceUnavailable) : StubResponse(.found, headers: [.location: "https://b.example/y"])
        }
        let service = service(leavesOrigin: false, leavesCall: false) {
            $0.errorHandlingService = ErrorHandlingService([
                AdHocErrorHandler { failure in
                    guard failure.attempt == 1, var request = failure.originalRequest else {
                        return .next(failure.error)
                    }
                    request.parts[Tenth.self] = Tenth(value: "of the handler", leavesOrigin: false, leavesCall: false)
                    if isMoved, let url = URL(string: "https://b.example/z") { request.url = url }
                    return .retry(with: request)
                }
            ])
            $0.requestAdaptingService = RequestAdaptingService()
        }
        _ = await Fixture.failure { try await service.request(.get("x")) }
        #expect(parts == (isMoved ? [nil, nil, nil] : [nil, nil, "of the handler", nil]))
    }

    @Test("An adapter that changes the origin drops or keeps it as it says", arguments: [false, true])
    func adapter(leavesOrigin: Bool) async throws {
        stub.on(nil, nil, StubResponse())
        let service = service(leavesOrigin: leavesOrigin, leavesCall: false) {
            let move = AdHocAdapter { request, _ in request.url = URL(string: "https://b.example") ?? request.url }
            $0.requestAdaptingService = RequestAdaptingService($0.requestAdaptingService.adapters + [move])
        }
        try await service.request(.get("x"))
        #expect(parts == [leavesOrigin ? "a" : nil])
    }

    @Test("A response that the app keeps, an error and a report drop or keep it as it says", arguments: [false, true])
    func kept(leavesCall: Bool) async throws {
        let expected = leavesCall ? "a" : nil
        stub.on(nil, "/v1/x", StubResponse(.found, headers: [.location: "y"]))
        stub.on(nil, "/v1/y", StubResponse())
        stub.on(nil, "/v1/z", StubResponse(.notFound))
        let service = service(leavesCall: leavesCall)
        let response = try await service.response(AdHocEndpoint.get("x"), as: .response)
        for http in [response.http, response.value] + response.http.redirects {
            #expect(http.request.parts[Tenth.self]?.value == expected && http.request.parts.transfer == nil)
        }
        #expect(response.report.request?.parts[Tenth.self]?.value == expected)
        let thrown = await Fixture.failure { try await service.request(.get("z")) }
        let error = try #require((thrown as? GeneralRequestError)?.networkCause ?? thrown as? NetworkError)
        let attempt = try #require(error.report?.attempts.first)
        for request in [error.request, error.response?.request, attempt.request, attempt.response?.request] {
            #expect(request?.parts[Tenth.self]?.value == expected && request?.parts.transfer == nil)
        }
    }

    private struct Wrapped: Error {
        let cause: NetworkError?
    }

    @Test(
        "An error that a handler wraps, a stored response and a recovered task drop or keep it as it says",
        arguments: [false, true])
    func keptElsewhere(leavesCall: Bool) async throws {
        let expected = leavesCall ? "a" : nil
        stub.on(nil, "/v1/x", StubResponse(.ok, headers: [.cacheControl: "max-age=60"]))
        stub.on(nil, "/v1/y", .failure(.cannotConnect))
        let service = service(leavesCall: leavesCall) {
            $0.cache = ResponseCache(clock: clock.networkClock)
            $0.errorHandlingService = ErrorHandlingService([
                AdHocErrorHandler { .next(Wrapped(cause: $0.networkError)) }
            ])
        }
        let thrown = await Fixture.failure { let _: Int = try await service.request(.get("x")) }
        let cause = try #require((thrown as? Wrapped)?.cause)
        #expect(cause.kind == .undecodableBody)
        let stored = try #require(service.cachedResponse(AdHocEndpoint.get("x"), as: .response))
        let recovered = service.task(AdHocEndpoint.get("y"), as: .string).recover { _ in "recovered" }
        let request = try await recovered.response.http.request
        for message in [cause.request, cause.response?.request, stored.value.request, stored.http.request, request] {
            #expect(message?.parts[Tenth.self]?.value == expected && message?.parts.transfer == nil)
        }
    }

    @Test("The observer of a shared transfer gets it as it says", arguments: [false, true])
    func observed(leavesCall: Bool) async throws {
        let transport = ManualTransport()
        let observed = Box<[HTTPRequest]>([])
        let service = service(leavesCall: leavesCall) {
            $0.transport = transport
            $0.duplicates = .always(
                .share(notifying: { result in observed.change { $0 += [try? result.get().request].compactMap { $0 } } })
            )
        }
        let first = service.task(AdHocEndpoint.get("x"), as: .void)
        await transport.waitForRequests()
        _ = await Fixture.failure { try await service.request(AdHocEndpoint.get("x")) }
        transport.answer()
        _ = await Fixture.failure { try await first.value }
        while observed.value.isEmpty { await Task.yield() }
        let request = try #require(observed.value.first)
        #expect(request.parts[Tenth.self]?.value == (leavesCall ? "a" : nil) && request.parts.transfer == nil)
    }

    @Test("A validation in the background drops or keeps it as it says", arguments: [false, true])
    func revalidation(leavesCall: Bool) async throws {
        stub.on(nil, nil, StubResponse(headers: [.cacheControl: "max-age=1, stale-while-revalidate=60"]))
        let service = service(leavesOrigin: false, leavesCall: leavesCall) {
            $0.cache = ResponseCache(clock: clock.networkClock)
        }
        try await service.request(.get("x"))
        clock.advance(by: .seconds(10))
        #expect(try await (service.response(.get("x")) as Response<String>).http.source == .cache)
        while stub.requests.count < 2 { await Task.yield() }
        #expect(parts == ["a", leavesCall ? "a" : nil])
    }

    @Test("Requests that differ in it are no duplicates, and a response to one of them is not stored for the other")
    func identity() async throws {
        let transport = ManualTransport()
        let (limit, joined) = (ConcurrencyLimit(), Box(0))
        let service = service {
            $0.transport = transport
            $0.concurrencyLimit = limit
            $0.duplicates = DuplicateRequestPolicy { _, _ in
                joined.change { $0 += 1 }
                return .join
            }
            $0.cache = ResponseCache(clock: clock.networkClock)
        }
        async let first: Void = service.request(AdHocEndpoint.get("x").header("X-Value", "a"))
        async let second: Void = service.request(AdHocEndpoint.get("x").header("X-Value", "b"))
        await transport.waitForRequests(2)
        let third = service.task(AdHocEndpoint.get("x").header("X-Value", "a"), as: .void)
        while joined.value < 1 || limit.activeCount > 2 { await Task.yield() }
        transport.answer()
        transport.answer()
        try await first
        try await second
        try await third.value
        #expect(transport.count == 2)

        stub.on(nil, nil, StubResponse(headers: [.cacheControl: "max-age=60"]))
        let cached = self.service { $0.cache = ResponseCache(clock: clock.networkClock) }
        for value in ["a", "b", "a"] { try await cached.request(AdHocEndpoint.get("x").header("X-Value", value)) }
        #expect(stub.requests.count == 2)
    }

    @Test("The background validation of a stored response does not count as progress of the call that caused it")
    func revalidation() async throws {
        let cacheable: HTTPHeaders = [.cacheControl: "max-age=1, stale-while-revalidate=60", .eTag: "\"1\""]
        let stub = StubTransport { _ in StubResponse(.ok, headers: cacheable) }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.cache = ResponseCache(clock: clock.networkClock)
            $0.clock = clock.networkClock
        }
        try await service.request(.get("x"))
        clock.advance(by: .seconds(10))
        let task = service.task(AdHocEndpoint.get("x"), as: .data)
        _ = try await task.value
        while stub.requests.count < 2 { await Task.yield() }
        #expect(stub.requests.last?.progress == nil)
    }
}
