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

    @Test("P-08: at most so many at once, first come first served, the next begins when one leaves")
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

    @Test(
        "P-08, a defect of pkrll/Network: a cancelled waiter leaves the queue, is not let in, and the place goes to the next"
    )
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

    @Test("The limit is one for each host, whatever the case of its name, and each port")
    func perHost() throws {
        let limit = ConcurrencyLimit(1)
        #expect(try limit.tryEnter(request("a.example"), for: UserEndpoint.open) != nil)
        #expect(try limit.tryEnter(request("A.EXAMPLE:443"), for: UserEndpoint.open) == nil)
        #expect(try limit.tryEnter(request("a.example:8443"), for: UserEndpoint.open) != nil)
        #expect(try limit.tryEnter(request("b.example"), for: UserEndpoint.open) != nil)
    }

    /// Has waiters queue one after another, lets them in one by one, and tells in which order.
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

    @Test("The most urgent goes first, and of equally urgent ones the one that came first")
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

    @Test("A limit in all holds over every host, and hands places on in order across them")
    func total() async throws {
        let limit = ConcurrencyLimit(64, total: 1)
        let held = try #require(limit.tryEnter(try request("a.example"), for: UserEndpoint.open))
        #expect(try limit.tryEnter(request("b.example"), for: UserEndpoint.open) == nil)
        var waiters: [(String, HTTPRequest)] = []
        for host in ["b", "c", "a", "b", "d"] { waiters.append((host, try request("\(host).example"))) }
        #expect(await order(limit, waiters, leaving: held) == ["b", "c", "a", "b", "d"])
        #expect(limit.activeCount == 0 && limit.waiterCount == 0)
    }

    @Test("Who waits for a full host does not hold up the others of a limit in all")
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

    @Test("A place is given back exactly once, also when it is given back early")
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

    @Test("However policies are listed, they are entered in the order of their stages and left in the opposite one")
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

    @Test("P-07: a request that asks for it takes no place and does not count")
    func unlimited() async throws {
        let limit = ConcurrencyLimit(1)
        let permit = try #require(limit.tryEnter(try request(), for: UserEndpoint.open))
        #expect(try limit.tryEnter(request("a.example", .unlimited), for: UserEndpoint.open) != nil)
        #expect(limit.activeCount == 1)
        limit.leave(permit, .notSent)
    }

    @Test("A call that says it is part of a refresh needs no permit, also where the library's mark was lost")
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

    @Test("Where one policy says not now, the others are left before it is waited for, and entered again after")
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

    @Test("A permit that is dropped gives its permits back")
    func dropped() async throws {
        let limit = ConcurrencyLimit(1)
        do {
            let permit = try await Permit.enter([limit], try request(), for: UserEndpoint.open)
            _ = consume permit
        }
        #expect(limit.activeCount == 0)
    }

    @Test("A policy that throws ends the call, and the permits before it are given back")
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

    @Test("A place is given back while an answer's failure is handled, and when an adapter throws")
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

    /// Goes through the policies again and again until `isOver`, and says how often.
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

    @Test("Of two limits that others keep busy, each call through both gets its permits within a bound")
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
        // Before each of the twenty, those go who have waited longer: twelve at each limit, and the others of the
        // twenty.
        #expect(rounds < 20 * (12 + 12 + 20))
        #expect(first.activeCount == 0 && second.activeCount == 0)
    }

    /// A gate that closes by chance and opens after some turns.
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

    @Test("Any number of limits and gates under any load: within a priority no call waits for ever", arguments: 0..<6)
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
        // Twenty-four at most are before it in each of the four queues, for each time that the gate sends it back.
        #expect(calls.value.mostOvertaken < 24 * 4 * 4, "seed \(seed)")
        for limit in limits { #expect(limit.activeCount == 0 && limit.waiterCount == 0) }
    }

    @Test("A waiter that had to wait elsewhere in between has its place in the queue again")
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

    /// With a look at all hosts each time one leaves, it would take longer than the limit.
    @Test("With 10,000 hosts that wait for a limit in all, a permit is handed on in no time", .timeLimit(.minutes(1)))
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
