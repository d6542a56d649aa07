import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Admission")
struct AdmissionTests {
    private func request(_ host: String = "a.example", _ option: RequestSettings.Admission = .required) throws
        -> HTTPRequest
    {
        var request = HTTPRequest(.get, try #require(URL(string: "https://\(host)/")))
        request.admission = option
        return request
    }

    @Test("P-08: the number of calls at once is limited; the next call in the queue starts when a call leaves")
    func firstCome() async throws {
        let limit = ConcurrencyLimit(1)
        let request = try request()
        let first = try #require(limit.tryEnter(request, for: UserEndpoint.open))
        let order = Box<[Int]>([])
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    guard let permit = try? await limit.enter(request, for: UserEndpoint.open) else { return }
                    order.change { $0.append(number) }
                    limit.leave(permit, .notSent)
                }
                while limit.waiterCount <= number { await Task.yield() }
            }
            #expect(limit.tryEnter(request, for: UserEndpoint.open) == nil)
            limit.leave(first, .notSent)
        }
        #expect(order.value == Array(0..<20))
        #expect(limit.activeCount == 0)
    }

    @Test("P-08: a cancelled waiter leaves the queue without a permit, and the permit goes to the next waiter")
    func cancelledWaiter() async throws {
        let limit = ConcurrencyLimit(1)
        let request = try request()
        let first = try #require(limit.tryEnter(request, for: UserEndpoint.open))
        let leaving = Task { try await limit.enter(request, for: UserEndpoint.open) }
        while limit.waiterCount < 1 { await Task.yield() }
        let staying = Task { try await limit.enter(request, for: UserEndpoint.open) }
        while limit.waiterCount < 2 { await Task.yield() }
        leaving.cancel()
        await #expect(throws: Interruption.cancelled) { _ = try await leaving.value }
        limit.leave(first, .notSent)
        limit.leave(try await staying.value, .notSent)
        #expect(limit.activeCount == 0 && limit.waiterCount == 0)
    }

    @Test("Each host and port has its own limit, and the case of the host name does not matter")
    func perHost() throws {
        let limit = ConcurrencyLimit(1)
        #expect(try limit.tryEnter(request("a.example"), for: UserEndpoint.open) != nil)
        #expect(try limit.tryEnter(request("A.EXAMPLE:443"), for: UserEndpoint.open) == nil)
        #expect(try limit.tryEnter(request("a.example:8443"), for: UserEndpoint.open) != nil)
        #expect(try limit.tryEnter(request("b.example"), for: UserEndpoint.open) != nil)
    }

    /// Queues the waiters one after another, releases `held`, and returns the order in which the waiters enter.
    private func order(
        _ limit: ConcurrencyLimit, _ waiters: [(name: String, request: HTTPRequest)], leaving held: AdmissionPermit
    ) async -> [String] {
        let order = Box<[String]>([])
        await withTaskGroup(of: Void.self) { group in
            for (index, waiter) in waiters.enumerated() {
                group.addTask {
                    guard let permit = try? await limit.enter(waiter.request, for: UserEndpoint.open) else { return }
                    order.change { $0.append(waiter.name) }
                    limit.leave(permit, .notSent)
                }
                while limit.waiterCount <= index { await Task.yield() }
            }
            limit.leave(held, .notSent)
        }
        return order.value
    }

    @Test("The waiter of the highest priority enters first, and waiters of equal priority enter in order")
    func priorities() async throws {
        let limit = ConcurrencyLimit(1)
        let held = try #require(limit.tryEnter(try request(), for: UserEndpoint.open))
        var waiters: [(String, HTTPRequest)] = []
        for (name, priority) in [
            ("low1", HTTPRequest.Priority.low), ("normal1", .normal), ("high1", .high), ("low2", .low),
            ("high2", .high),
            ("higher", HTTPRequest.Priority(99)),
        ] {
            var request = try request()
            request[option: PriorityOption.self] = priority
            waiters.append((name, request))
        }
        #expect(await order(limit, waiters, leaving: held) == ["higher", "high1", "high2", "normal1", "low1", "low2"])
        #expect(limit.activeCount == 0 && limit.waiterCount == 0)
    }

    @Test("A total limit applies to all hosts together, and permits are handed on in order across hosts")
    func total() async throws {
        let limit = ConcurrencyLimit(64, total: 1)
        let held = try #require(limit.tryEnter(try request("a.example"), for: UserEndpoint.open))
        #expect(try limit.tryEnter(request("b.example"), for: UserEndpoint.open) == nil)
        var waiters: [(String, HTTPRequest)] = []
        for host in ["b", "c", "a", "b", "d"] { waiters.append((host, try request("\(host).example"))) }
        #expect(await order(limit, waiters, leaving: held) == ["b", "c", "a", "b", "d"])
        #expect(limit.activeCount == 0 && limit.waiterCount == 0)
    }

    @Test("A waiter for a full host does not block waiters for other hosts under a total limit")
    func totalAndHost() async throws {
        let limit = ConcurrencyLimit(1, total: 2)
        let first = try #require(limit.tryEnter(try request("a.example"), for: UserEndpoint.open))
        let request = try request("a.example")
        let waiting = Task { try await limit.enter(request, for: UserEndpoint.open) }
        while limit.waiterCount < 1 { await Task.yield() }
        let other = try #require(limit.tryEnter(try self.request("b.example"), for: UserEndpoint.open))
        #expect(try limit.tryEnter(self.request("c.example"), for: UserEndpoint.open) == nil)
        limit.leave(other, .notSent)
        limit.leave(first, .notSent)
        limit.leave(try await waiting.value, .notSent)
        #expect(limit.activeCount == 0)
    }

    @Test("A permit is released exactly once, also if it is released early")
    func givenBackOnce() async throws {
        let limit = ConcurrencyLimit(2)
        let request = try request()
        let permit = try await Permit.enter([limit], request, for: UserEndpoint.open)
        let other = try await Permit.enter([limit], request, for: UserEndpoint.open)
        permit.release(after: nil)
        permit.release(after: nil)
        permit.release(.notSent)
        #expect(limit.activeCount == 1)
        other.release(after: nil)
        #expect(limit.activeCount == 0)
    }

    @Test("Policies are entered in the order of their stages and left in reverse order, however they are listed")
    func stages() async throws {
        let log = Box<[String]>([])
        let policies = [AdmissionStage.token, .limit, .custom, .gate, .breaker].map {
            LoggingPolicy("\($0)", log, stage: $0)
        }
        let service = UserService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .status(.ok) }
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = policies
        }
        try await service.request(UserEndpoint.open)
        let order = ["breaker", "gate", "custom", "limit", "token"]
        #expect(log.value == order.map { "\($0) in" } + order.reversed().map { "\($0) out" })
    }

    @Test("P-07: an unlimited request needs no permit and does not count")
    func unlimited() async throws {
        let limit = ConcurrencyLimit(1)
        let permit = try #require(limit.tryEnter(try request(), for: UserEndpoint.open))
        #expect(try limit.tryEnter(request("a.example", .unlimited), for: UserEndpoint.open) != nil)
        #expect(limit.activeCount == 1)
        limit.leave(permit, .notSent)
    }

    @Test("A call with the admission `refresh` needs no permit, also if the library's own mark was lost")
    func refreshOption() async throws {
        struct Refresh: Endpoint {
            var path: EndpointPath { "token" }
            var settings: RequestSettings { RequestSettings { $0.admission = .refresh } }
        }
        let limit = ConcurrencyLimit(1)
        let environment = NetworkEnvironment(baseURL: URL(string: "https://a.example"))
        let permit = try #require(limit.tryEnter(try request(), for: UserEndpoint.open))
        let service = UserService(environment: environment) {
            $0.transport = StubTransport { _ in .text("new") }
            $0.concurrencyLimit = limit
            $0.backoffGate = nil
        }
        #expect(try await service.request(Refresh(), as: .string) == "new")
        limit.leave(permit, .notSent)
    }

    @Test("If a policy is closed, the other permits are released before the wait and acquired again after it")
    func nothingHeld() async throws {
        let log = Box<[String]>([])
        let open = LoggingPolicy("open", log)
        let gate = LoggingPolicy("gate", log, isOpen: false)
        let permit = try await Permit.enter([open, gate], try request(), for: UserEndpoint.open)
        permit.release(.notSent)
        #expect(
            log.value == [
                "open in", "gate not now", "open out", "gate awaited", "open in", "gate out", "open out",
            ])
    }

    @Test("A permit that is dropped releases the permits of its policies")
    func dropped() async throws {
        let limit = ConcurrencyLimit(1)
        do {
            let permit = try await Permit.enter([limit], try request(), for: UserEndpoint.open)
            _ = consume permit
        }
        #expect(limit.activeCount == 0)
    }

    @Test("A policy that throws ends the call, and the earlier permits are released")
    func throwing() async throws {
        struct Closed: AdmissionPolicy {
            func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) throws -> AdmissionPermit? {
                throw UserError.cloudy
            }
            func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
                AdmissionPermit()
            }
            func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {}
        }
        let limit = ConcurrencyLimit(1)
        let stub = StubTransport { _ in .status(.ok) }
        let service = UserService(environment: Fixture.environment) {
            $0.transport = stub
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [limit, Closed()]
        }
        #expect(await Fixture.failure { try await service.request(UserEndpoint.open) } as? UserError == .cloudy)
        #expect(limit.activeCount == 0 && stub.requests.isEmpty)
    }

    @Test("A permit is released before the failure of a response is handled, and when an adapter throws")
    func givenBack() async {
        let limit = ConcurrencyLimit(1)
        let seen = Box<[Int]>([])
        let handler = ClosureErrorHandler { failure in
            seen.change { $0.append(limit.activeCount) }
            return .next(failure.error)
        }
        for adapter in [ClosureAdapter { _, _ in }, ClosureAdapter { _, _ in throw UserError.taken }] {
            let service = UserService(environment: Fixture.environment) {
                $0.transport = StubTransport { _ in .status(.gone) }
                $0.concurrencyLimit = limit
                $0.backoffGate = nil
                $0.requestAdaptingService = RequestAdaptingService([adapter])
                $0.errorHandlingService = ErrorHandlingService([handler])
            }
            #expect(await Fixture.failure { try await service.request(UserEndpoint.open) } != nil)
        }
        #expect(seen.value == [0, 0])
    }

    /// Enters and leaves the policies while `isRunning` returns true, and returns the number of rounds.
    private func lane(_ policies: [any AdmissionPolicy], while isRunning: @Sendable () -> Bool) async throws -> Int {
        var rounds = 0
        let request = try self.request()
        while isRunning() {
            let permit = try await Permit.enter(policies, request, for: UserEndpoint.open)
            await Task.yield()
            permit.release(.notSent)
            rounds += 1
        }
        return rounds
    }

    @Test("If two limits are busy, each call through both gets its permits within a bound")
    func twoLimits() async throws {
        let (first, second) = (ConcurrencyLimit(4), ConcurrencyLimit(4))
        let left = Box(20)
        let rounds = try await withThrowingTaskGroup(of: Int.self) { group in
            for limit in [first, second] {
                for _ in 0..<12 { group.addTask { try await self.lane([limit]) { left.value > 0 } } }
            }
            for _ in 0..<20 {
                let request = try self.request()
                group.addTask {
                    let permit = try await Permit.enter([first, second], request, for: UserEndpoint.open)
                    await Task.yield()
                    permit.release(.notSent)
                    left.change { $0 -= 1 }
                    return 0
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(left.value == 0)
        // Before each of the twenty calls, the calls that have waited longer enter: twelve at each limit, and the other
        // calls of the twenty.
        #expect(rounds < 20 * (12 + 12 + 20))
        #expect(first.activeCount == 0 && second.activeCount == 0)
    }

    /// A gate that closes at random and opens after a few yields.
    private struct ChanceGate: AdmissionPolicy {
        let random: RandomSource
        let stage = AdmissionStage.gate

        func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? {
            var random = random
            return Int.random(in: 0..<8, using: &random) == 0 ? nil : AdmissionPermit()
        }

        func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async -> AdmissionPermit {
            for _ in 0..<3 { await Task.yield() }
            return AdmissionPermit()
        }

        func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {}
    }

    @Test(
        "With any limits and gates, under any load, no call waits forever behind calls of its priority",
        arguments: 0..<6)
    func anyLimits(seed: Int) async throws {
        let random = RandomSource(SeededGenerator(seed: UInt64(seed)))
        let limits = (0..<4).map { ConcurrencyLimit($0 + 1, total: $0 == 3 ? 3 : nil) }
        let gate = ChanceGate(random: random)
        let calls = Box((begun: 0, ended: 0, mostOvertaken: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<24 {
                let request = try self.request()
                group.addTask {
                    var random = random
                    for _ in 0..<50 {
                        let own = limits.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random))
                        let isGated = Bool.random(using: &random)
                        var policies: [any AdmissionPolicy] = isGated ? [gate] : []
                        for limit in own { policies.append(limit) }
                        let begun = calls.value.ended
                        let permit = try await Permit.enter(policies, request, for: UserEndpoint.open)
                        calls.change { $0.mostOvertaken = max($0.mostOvertaken, $0.ended - begun) }
                        for _ in 0..<Int.random(in: 0...2, using: &random) { await Task.yield() }
                        calls.change { $0.ended += 1 }
                        permit.release(.notSent)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(calls.value.ended == 24 * 50)
        // At most 24 calls are ahead of a call in each of the four queues, each time that the gate sends the call back.
        #expect(calls.value.mostOvertaken < 24 * 4 * 4, "seed \(seed)")
        for limit in limits { #expect(limit.activeCount == 0 && limit.waiterCount == 0) }
    }

    @Test("A waiter that also had to wait elsewhere gets its position in the queue back")
    func keepsItsPlace() {
        var line = WaitingLine<String>()
        for (number, name) in [(1, "a"), (2, "b"), (5, "e")] { line.insert(name, number: UInt64(number)) }
        #expect(line.popFirst() == "a")
        line.insert("d", number: 4)
        line.insert("a", number: 1)
        #expect(line.first == 1)
        #expect((0..<4).map { _ in line.popFirst() } == ["a", "b", "d", "e"])
        #expect(line.popFirst() == nil && line.count == 0)
    }

    /// If each release looked at all hosts, the test would exceed its time limit.
    @Test("With 10,000 hosts that wait for a total limit, a permit is handed on quickly", .timeLimit(.minutes(1)))
    func manyHosts() async throws {
        let count = ProcessInfo.processInfo.environment["SANITIZER"] == nil ? 10_000 : 1_000
        let limit = ConcurrencyLimit(1, total: count)
        let held = try (0..<count).map { number in
            try #require(limit.tryEnter(try request("first\(number).example"), for: UserEndpoint.open))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                let request = try self.request("host\(number).example")
                group.addTask {
                    limit.leave(try await limit.enter(request, for: UserEndpoint.open), .notSent)
                }
            }
            while limit.waiterCount < count, !Task.isCancelled { await Task.yield() }
            for permit in held { limit.leave(permit, .notSent) }
            try await group.waitForAll()
        }
        #expect(limit.activeCount == 0 && limit.waiterCount == 0)
    }
}

private final class LoggingPolicy: StagedAdmissionPolicy {
    private let name: String
    private let log: Box<[String]>
    private let isOpen: Bool
    let stage: AdmissionStage

    init(_ name: String, _ log: Box<[String]>, isOpen: Bool = true, stage: AdmissionStage = .custom) {
        self.stage = stage
        self.name = name
        self.log = log
        self.isOpen = isOpen
    }

    func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? {
        log.change { $0.append("\(name) \(isOpen ? "in" : "not now")") }
        return isOpen ? AdmissionPermit() : nil
    }

    func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
        log.change { $0.append("\(name) awaited") }
        return AdmissionPermit()
    }

    func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {
        log.change { $0.append("\(name) out") }
    }
}
