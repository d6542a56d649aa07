// The Swift blocks of Servers.md, unchanged. `DocumentationTests` compares them with the article.

import Foundation
import Networking
import NetworkingTesting
import Testing

// snippet.client
func makeBilling(
    _ api: NetworkEnvironment, _ auth: NetworkService, secret: String,
    log: LogObserver
) -> NetworkService {
    // Fetches its first token before the first call, and each one only once.
    let session = makeMachineSession(auth, id: "orders", secret: secret)
    return NetworkService(environment: api, authorizedBy: session) {
        $0.settings.authorizationType = .bearer
        $0.settings.timeouts.total = .seconds(10)
        // 429 and 503: after `Retry-After`, at most 60 s; POST only with a key.
        $0.retry = .standard
        $0.retry?.budget = RetryPolicy.Budget()
        $0.circuitBreaker = CircuitBreaker()
        $0.concurrencyLimit = ConcurrencyLimit(32, total: 256)
        $0.requestAdaptingService = RequestAdaptingService([
            TraceContext.Adapter(),
            CallDeadline.Adapter(.milliseconds("X-Timeout-Ms")),
        ])
        $0.observers = [log]
    }
}
// snippet.end

// snippet.deadline
func handle(
    _ headers: HTTPHeaders, _ invoice: Int, _ billing: NetworkService
) async throws -> String {
    // At most 10 s, also if the field is absent or cannot be read.
    try await CallDeadline.withValue(
        from: headers, in: .milliseconds("X-Timeout-Ms"), default: .seconds(10)
    ) {
        try await billing.request(.get("invoices/\(invoice)"))
    }
}
// snippet.end

// snippet.lifecycle
struct BillingLifecycle {  // : Service
    let client: NetworkClient
    /// Returns when the process shall end: `try await gracefulShutdown()`.
    let untilShutdown: @Sendable () async throws -> Void

    func run() async throws {
        try? await untilShutdown()  // it also ends if the task is cancelled
        // Retries and refreshes of these calls go on. What is left after 20 s
        // ends with `transportShutDown`.
        await client.shutDown(draining: .seconds(20))  // by the client's clock
    }
}
// snippet.end

@Suite("Services on a server", .endsInTime)
struct ServerExampleTests {
    private let stub = StubTransport()
    private let clock = ManualClock()

    private func billing(_ log: Box<[String]>) -> NetworkService {
        let (transport, clock) = (stub, clock)
        stub.on(.post, "/v1/oauth/token", .json(text: #"{"access_token":"a","expires_in":3600}"#))
        let auth = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.clock = clock.networkClock
        }
        let observer = LogObserver { line in log.change { $0.append(line.message) } }
        let service = makeBilling(Fixture.environment, auth, secret: "s", log: observer)
        return NetworkService(
            client: service.client.with {
                $0.transport = transport
                $0.clock = clock.networkClock
            })
    }

    @Test("The first call waits for a token, is sent again after a 429, and is logged")
    func calls() async throws {
        let log = Box<[String]>([])
        let service = billing(log)
        stub.on(.get, nil, .status(.tooManyRequests, headers: [.retryAfter: "2"]), .text("paid"))
        let task = service.task(.get("invoices/7"), as: .string)
        try await clock.advance(by: .seconds(1)) { task.result != nil }
        #expect(try await task.value == "paid")
        #expect(stub.requests.map(\.url.path) == ["/v1/oauth/token", "/v1/invoices/7", "/v1/invoices/7"])
        #expect(stub.requests.last?.headers[.authorization] == "Bearer a")
        #expect(stub.requests.last?.headers["traceparent"] != nil)
        #expect(!log.value.isEmpty)
    }

    @Test("The calls of a handler end with its caller, and tell the next server so")
    func deadlines() async throws {
        let service = billing(Box([]))
        stub.on(.get, nil, .text("paid"))
        let late = await Fixture.failure { _ = try await handle(["X-Timeout-Ms": "0"], 7, service) }
        #expect((late as? GeneralRequestError) == .timedOut)
        #expect(!stub.requests.contains { $0.method == .get })
        #expect(try await handle(["X-Timeout-Ms": "9000"], 7, service) == "paid")
        let told = try #require(stub.requests.last?.headers["X-Timeout-Ms"].flatMap { Int($0) })
        #expect((1...9_000).contains(told))
    }

    @Test("The end of the process waits for the calls in progress, and lets no further one begin")
    func ending() async throws {
        let service = billing(Box([]))
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        stub.on(.get, nil) { _ in
            for await _ in gate { break }
            return .text("paid")
        }
        let task = service.task(.get("invoices/7"), as: .string)
        while stub.requests.count < 2 { await Task.yield() }
        let lifecycle = BillingLifecycle(client: service.client) {}
        async let end: Void = lifecycle.run()
        open.yield()
        #expect(try await task.value == "paid")
        try await end
        let error = await Fixture.failure { _ = try await service.request(.get("late"), as: .string) }
        #expect((error as? NetworkError)?.kind == .transportShutDown)
    }
}
