import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Admission", .endsInTime)
struct AdmissionTests {
    private func request(_ host: String = "a.example", _ option: RequestSettings.Admission = .required) throws
        -> HTTPRequest
    {
        var request = HTTPRequest(.get, try #require(URL(string: "https://\(host)/")))
        request.admission = option
        return request
    }

    @Test(
        "The number of concurrent calls is limited; when a call returns its permit, the next waiter starts",
        .row("P-08"))
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
        "A cancelled waiter leaves the queue without a permit, and the next free permit goes to the next waiter",
        .row("P-08"))
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

    @Test("A limit with a total does not remember the waiters that have left its queue")
    func forgottenWaiters() async throws {
        let limit = ConcurrencyLimit(1, total: 1)
        let held = try #require(try limit.tryEnter(request("a.example"), for: UserEndpoint.open))
        let request = try request("b.example")
        for _ in 0..<1_000 {
            let leaving = Task { try await limit.enter(request, for: UserEndpoint.open) }
            while limit.waiterCount < 1 { await Task.yield() }
            leaving.cancel()
            _ = try? await leaving.value
        }
        #expect(limit.contents.candidates.count < 100)
        let staying = Task { try await limit.enter(request, for: UserEndpoint.open) }
        while limit.waiterCount < 1 { await Task.yield() }
        limit.leave(held, .notSent)
        limit.leave(try await staying.value, .notSent)
        #expect(limit.activeCount == 0)
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

    @Test("The waiter of the highest priority enters first; waiters of equal priority enter in order of arrival")
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
            request.parts = RequestSettings { $0.priority = priority }.orders
            waiters.append((name, request))
        }
        #expect(await order(limit, waiters, leaving: held) == ["higher", "high1", "high2", "normal1", "low1", "low2"])
        #expect(limit.activeCount == 0 && limit.waiterCount == 0)
    }

    @Test("A total limit applies to all hosts together; waiters of all hosts get their permits in order of arrival")
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

    @Test("An unlimited request needs no permit and does not count toward the limit", .row("P-07"))
    func unlimited() async throws {
        let limit = ConcurrencyLimit(1)
        let permit = try #require(limit.tryEnter(try request(), for: UserEndpoint.open))
        #expect(try limit.tryEnter(request("a.example", .unlimited), for: UserEndpoint.open) != nil)
        #expect(limit.activeCount == 1)
        limit.leave(permit, .notSent)
    }

    /// If each release of a permit examined all hosts, the test would exceed its time limit.
    @Test("If calls to 10,000 hosts wait for a total limit, a freed permit is reused quickly", .timeLimit(.minutes(1)))
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
