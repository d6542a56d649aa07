import Foundation
import Networking
import NetworkingTesting

/// Up to 20,000 calls of 200 workers on services that share a session. At the end, the round checks that no call,
/// permit or refresh remains, and that the gate and the breaker let calls pass again.
struct StressRound: Sendable {
    static let workers = 200

    let ledger = StressLedger()
    let backend: StressBackend
    let services: [NetworkService]
    let session: AccessTokenSupervisor
    private let limit = ConcurrencyLimit(16, total: 24)
    private let gate = BackoffGate(longest: .milliseconds(2))
    private let breaker = CircuitBreaker(
        failureRatio: 0.5, minimumCalls: 4, window: .milliseconds(10), pause: .microseconds(200))
    private let random: RandomSource

    /// - Parameter url: The URL of the round's server.
    init(seed: UInt64, url: URL, transport: some Transport, backend: StressBackend) {
        let ledger = ledger
        self.backend = backend
        let random = RandomSource(SeededGenerator(seed: seed))
        self.random = random
        let choices: [DuplicateRequestPolicy.Choice] = [
            .join, .join, .replace, .keepFirst, .keepLatest, .allow, .share { _ in }, .replace { _ in },
        ]
        let duplicates = DuplicateRequestPolicy { _, _ in
            ledger.noteDuplicate()
            var random = random
            return choices.randomElement(using: &random) ?? .allow
        }
        let home = ServiceBox()
        let refusal = Data(StressBackend.refusal.utf8)
        session = AccessTokenSupervisor(token: nil, refuses: { $0.data == refusal }) { old in
            try await ledger.refresh {
                guard let service = home.service, let old else { throw AccessToken.Rejected() }
                // The refresh request is marked as authorized, like any other request. It must not wait for the refresh
                // that it belongs to.
                let text = try await service.request(
                    .post("token").authorized().body(.data(Data((old.refreshToken ?? "").utf8))), as: .string)
                let parts = text.split(separator: " ").map(String.init)
                return AccessToken(parts[0], refreshToken: parts[1])
            }
        }
        var configuration = NetworkConfiguration(environment: NetworkEnvironment(baseURL: url))
        configuration.session = session
        configuration.concurrencyLimit = limit
        configuration.backoffGate = gate
        configuration.circuitBreaker = breaker
        configuration.retry = RetryPolicy(retries: 2, backoff: .constant(.zero), longestRetryAfter: .zero)
        configuration.retry?.budget = RetryPolicy.Budget()
        configuration.duplicates = duplicates
        configuration.transport = SendingTransport(ledger: ledger, next: transport)
        configuration.observers = [ledger]
        configuration.random = random
        services = [NetworkService(configuration: configuration), NetworkService(configuration: configuration)]
        home.service = services[0]
    }

    /// - Returns: The violations, and the totals of the round.
    func run(_ calls: Int) async -> (violations: [String], totals: StressTotals) {
        logIn()
        let observation = session.events.observe(on: nil) { event in
            if case .sessionOver = event { Task { logIn() } }
        }
        let policies = [gate.events, breaker.events].map { events in
            events.observe(on: nil) { event in
                ledger.note(event)
                if case .circuit(_, .open) = event { backend.recover() }
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<Self.workers {
                group.addTask {
                    var random = random
                    for number in 0..<(calls / Self.workers) {
                        await StressStep(round: self, id: worker * calls + number, random: &random).run()
                    }
                }
            }
        }
        if await !isServedAgain() { ledger.add("no call succeeds after the faults are over") }
        observation.cancel()
        for observation in policies { observation.cancel() }
        for service in services { await service.reset() }
        await settle()
        ledger.close()
        return (backend.violations + ledger.violations + remains, ledger.totals)
    }

    func logIn() {
        ledger.change(isLoggedIn: true) { user in session.accessToken = user.map { backend.logIn($0) } }
    }

    func logOut() {
        ledger.change(isLoggedIn: false) { _ in session.accessToken = nil }
    }

    /// Whether a call succeeds within 5 seconds.
    private func isServedAgain() async -> Bool {
        for _ in 0..<1_000 {
            if (try? await services[0].request(.get("open/0"), as: .string)) == "open" { return true }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return false
    }

    /// Waits up to 5 seconds for work that ends shortly after its call, such as a shared transfer.
    private func settle() async {
        for _ in 0..<1_000 where !remains.isEmpty { try? await Task.sleep(for: .milliseconds(5)) }
    }

    private var remains: [String] {
        let counts = [
            ("permits in use", limit.activeCount), ("calls that wait for a permit", limit.waiterCount),
            ("calls that wait for a token", session.waiterCount), ("refreshes", session.isRefreshing ? 1 : 0),
            ("calls without a report of their end", ledger.unfinishedCount),
            ("running calls", services.reduce(0) { $0 + $1.client.runningCallCount }),
        ]
        return counts.filter { $0.1 != 0 }.map { "\($0.1) \($0.0) are left" }
    }
}

/// Reports to the ledger which token each request carries.
private struct SendingTransport<Next: Transport>: Transport {
    let ledger: StressLedger
    let next: Next

    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        if let id = request.options[StressCall.ID.self] {
            ledger.noteSending(
                id, authorization: request.headers[.authorization], isOpen: request.url.path.hasPrefix("/open"))
        }
        if request.url.lastPathComponent == "token", request.headers[.authorization] != nil {
            ledger.add("rule 9: the request of a refresh carries a token")
        }
        return try await next.send(request, delivering: delivery)
    }
}

/// The service that sends the refresh requests of the session. It is created after the session.
private final class ServiceBox: @unchecked Sendable {  // because it is set once, before any call begins
    weak var service: NetworkService?
}
