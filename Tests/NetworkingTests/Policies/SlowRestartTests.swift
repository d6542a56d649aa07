import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("The slow restart of a concurrency limit", .endsInTime)
struct SlowRestartTests {
    private let request = HTTPRequest(.get, Fixture.environment.baseURL ?? URL(fileURLWithPath: "/"))
    private var origin: HTTPOrigin? { request.origin }

    /// Takes permits until the limit refuses one, and returns their number. The permits are returned.
    private func free(in limit: ConcurrencyLimit, to request: HTTPRequest? = nil) -> Int {
        var permits: [AdmissionPermit] = []
        while permits.count < 100, let permit = limit.tryEnter(request ?? self.request, for: UserEndpoint.open) {
            permits.append(permit)
        }
        for permit in permits { limit.leave(permit, .notSent) }
        return permits.count
    }

    private func hear(_ status: HTTPStatus, in limit: ConcurrencyLimit, _ permit: AdmissionPermit? = nil) {
        limit.heard(permit ?? AdmissionPermit(for: origin), HTTPResponse(status, to: request))
    }

    @Test(
        "A response that refuses a request for its load halves the limit, down to an eighth",
        arguments: [.tooManyRequests, .serviceUnavailable, 529] as [HTTPStatus])
    func halves(status: HTTPStatus) {
        let limit = ConcurrencyLimit(16)
        for expected in [8, 4, 2, 2] {
            hear(status, in: limit)
            #expect(free(in: limit) == expected)
        }
    }

    @Test("Other responses do not lower the limit", arguments: [.ok, .notFound, .internalServerError] as [HTTPStatus])
    func others(status: HTTPStatus) {
        let limit = ConcurrencyLimit(16)
        hear(status, in: limit)
        #expect(free(in: limit) == 16 && limit.contents.reduced.isEmpty)
    }

    @Test("Each success raises the limit by one, up to its value; an error of the server does not")
    func grows() {
        let limit = ConcurrencyLimit(8)
        for _ in 0..<3 { hear(.serviceUnavailable, in: limit) }
        hear(.internalServerError, in: limit)
        for expected in 2...8 {
            hear(expected.isMultiple(of: 2) ? .ok : .notFound, in: limit)
            #expect(free(in: limit) == expected)
        }
        #expect(limit.contents.reduced.isEmpty)
        hear(.ok, in: limit)
        #expect(free(in: limit) == 8)
    }

    @Test("The refusals of requests that were in progress together halve the limit once")
    func oneRound() {
        let limit = ConcurrencyLimit(16)
        let permits = (0..<16).compactMap { _ in limit.tryEnter(request, for: UserEndpoint.open) }
        #expect(permits.count == 16)
        for permit in permits {
            hear(.serviceUnavailable, in: limit, permit)
            limit.leave(permit, .notSent)
        }
        #expect(limit.contents.reduced.values.map(\.limit) == [8])
        // The next round has its own refusals.
        hear(.serviceUnavailable, in: limit)
        #expect(limit.contents.reduced.values.map(\.limit) == [4])
    }

    @Test("A waiter gets its permit when the limit grows, and not while the limit is lower")
    func waiters() async throws {
        let limit = ConcurrencyLimit(2)
        let first = try #require(limit.tryEnter(request, for: UserEndpoint.open))
        let second = try #require(limit.tryEnter(request, for: UserEndpoint.open))
        hear(.serviceUnavailable, in: limit, first)
        let waiting = Task { [request] in try await limit.enter(request, for: UserEndpoint.open) }
        while limit.waiterCount < 1 { await Task.yield() }
        limit.leave(first, .notSent)
        #expect(limit.activeCount == 1 && limit.waiterCount == 1, "one request is in progress, and the limit is one")
        hear(.ok, in: limit, second)
        limit.leave(try await waiting.value, .notSent)
        limit.leave(second, .notSent)
        #expect(limit.activeCount == 0 && free(in: limit) == 2)
    }

    @Test("Other hosts keep their limit, and a response of another host changes nothing")
    func otherHosts() throws {
        let limit = ConcurrencyLimit(8)
        let other = HTTPRequest(.get, try #require(URL(string: "https://other.example/")))
        hear(.serviceUnavailable, in: limit)
        #expect(free(in: limit) == 4 && free(in: limit, to: other) == 8)
        limit.heard(AdmissionPermit(for: origin), HTTPResponse(.serviceUnavailable, to: other))
        #expect(free(in: limit) == 4)
    }

    @Test("A limit does not remember very many hosts")
    func manyHosts() throws {
        let limit = ConcurrencyLimit(8)
        for number in 0..<1_000 {
            let request = HTTPRequest(.get, try #require(URL(string: "https://h\(number).example/")))
            limit.heard(AdmissionPermit(for: request.origin), HTTPResponse(.serviceUnavailable, to: request))
        }
        #expect(limit.contents.reduced.count <= 64)
    }

    @Test("Calls after an outage begin one by one, and their number doubles with each round")
    func recovery() async throws {
        let limit = ConcurrencyLimit(16)
        for _ in 0..<3 { hear(.serviceUnavailable, in: limit) }
        let manual = ManualTransport()
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = manual
            $0.clock = Fixture.stillClock
            $0.concurrencyLimit = limit
        }
        let tasks = (0..<30).map { _ in service.task(UserEndpoint.open, as: .string) }
        var inProgress: [Int] = []
        for round in [2, 4, 8, 16] {
            await manual.waitForRequests(round)
            inProgress.append(limit.activeCount)
            for _ in 0..<round { manual.answer() }
            while limit.waiterCount > max(30 - [2: 6, 4: 14, 8: 30, 16: 30][round, default: 30], 0) {
                await Task.yield()
            }
        }
        #expect(inProgress == [2, 4, 8, 16])
        for task in tasks { _ = try await task.value }
    }
}
