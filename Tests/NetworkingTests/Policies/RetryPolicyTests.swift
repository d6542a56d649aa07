import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Tests the policy as a value, without a service.
@Suite("Retry policies", .endsInTime)
struct RetryPolicyTests {
    private static let random = RandomSource(SeededGenerator(seed: 3))

    private func failure(
        _ kind: NetworkError.Kind, _ method: HTTPMethod = .get, headers: HTTPHeaders = [],
        answer: (status: HTTPStatus, headers: HTTPHeaders)? = nil, endpoint: any Endpoint = UserEndpoint.open,
        date: Date = Date(timeIntervalSince1970: 1_700_000_000)
    ) throws -> RequestFailure {
        let request = HTTPRequest(method, try #require(URL(string: "https://x.example")), headers: headers)
        let response = answer.map { HTTPResponse($0.status, headers: $0.headers, to: request) }
        return RequestFailure(
            endpoint: endpoint, request: request, originalRequest: request, response: response,
            error: NetworkError(kind, request: request, response: response), date: date)
    }

    private func delay(
        _ policy: RetryPolicy, _ failure: RequestFailure, retries: Int = 0, last: Duration? = nil,
        _ random: RandomSource = random
    ) async -> Duration? {
        let history = RetryPolicy.History(retries: retries, lastDelay: last)
        let result = await policy.result(of: failure, after: history, using: random)
        return if case .retry(let delay, _, _) = result { delay } else { nil }
    }

    private func reason(_ policy: RetryPolicy, _ failure: RequestFailure, retries: Int = 0) async -> String? {
        let history = RetryPolicy.History(retries: retries)
        let result = await policy.result(of: failure, after: history, using: Self.random)
        return if case .next(_, let reason) = result { reason } else { nil }
    }

    @Test(
        "The number of retries is limited; waits are constant, linear or exponential, up to their limit", .row("I-39"))
    func delays() async throws {
        let failure = try failure(.cannotConnect)
        func delays(_ policy: RetryPolicy, _ count: Int) async -> [Duration?] {
            var delays: [Duration?] = []
            for retry in 0..<count { delays.append(await delay(policy, failure, retries: retry)) }
            return delays
        }
        let constant = RetryPolicy(retries: 2, backoff: .constant(.seconds(1)))
        #expect(await delays(constant, 3) == [.seconds(1), .seconds(1), nil])
        let linear = RetryPolicy(
            retries: 4, backoff: .linear(first: .seconds(1), step: .seconds(2), limit: .seconds(6)))
        #expect(await delays(linear, 4) == [1, 3, 5, 6].map { .seconds($0) })
        let growing = RetryPolicy(retries: 5, backoff: .exponential(first: .seconds(1), factor: 3, limit: .seconds(20)))
        #expect(await delays(growing, 5) == [1, 3, 9, 20, 20].map { .seconds($0) })
        let huge = RetryPolicy(
            retries: .max, backoff: .exponential(first: .seconds(1), factor: .infinity, limit: .seconds(60)))
        #expect(await delay(huge, failure, retries: 1_000_000) == .seconds(60))
    }

    @Test("Full jitter waits at most for the backoff; decorrelated jitter waits at most for three times the last wait")
    func jitter() async throws {
        let failure = try failure(.cannotConnect)
        let backoff = RetryPolicy.Backoff.exponential(first: .seconds(1), limit: .seconds(10))
        let full = RetryPolicy(retries: 9, backoff: backoff, jitter: .full)
        let decorrelated = RetryPolicy(retries: 9, backoff: backoff, jitter: .decorrelated)
        var seen: [Duration] = []
        var last = Duration.seconds(1)
        for _ in 0..<1_000 {
            seen.append(try #require(await delay(full, failure, retries: 2)))
            let next = try #require(await delay(decorrelated, failure, retries: 1, last: last))
            #expect(next >= .seconds(1) && next <= min(last * 3, .seconds(10)))
            last = next
        }
        #expect(seen.allSatisfy { $0 >= .zero && $0 <= .seconds(4) })
        #expect(try #require(seen.min()) < .milliseconds(100) && #require(seen.max()) > .milliseconds(3_900))
    }

    @Test("The same seed gives the same waits")
    func seeded() async throws {
        let failure = try failure(.cannotConnect)
        let policy = RetryPolicy(retries: 9, backoff: .constant(.seconds(1)), jitter: .full)
        var runs: [[Duration?]] = []
        for _ in 0..<2 {
            let random = RandomSource(SeededGenerator(seed: 5))
            var delays: [Duration?] = []
            for _ in 0..<10 { delays.append(await delay(policy, failure, random)) }
            runs.append(delays)
        }
        #expect(runs[0] == runs[1])
        #expect(Set(runs[0]).count == 10)
    }

    @Test("Retry-After is respected in seconds and as a date, up to the limit, and never shortens the backoff")
    func retryAfter() async throws {
        let policy = RetryPolicy(retries: 1, backoff: .constant(.seconds(2)), longestRetryAfter: .seconds(30))
        func delay(_ value: String, _ status: HTTPStatus = .serviceUnavailable) async throws -> Duration? {
            await self.delay(
                policy, try failure(.unacceptableStatus, answer: (status, [.retryAfter: value])))
        }
        #expect(try await delay("7") == .seconds(7))
        #expect(try await delay("1") == .seconds(2))
        #expect(try await delay("900") == .seconds(30))
        #expect(try await delay("99999999999999999999") == .seconds(30))
        #expect(try await delay("Tue, 14 Nov 2023 22:13:25 GMT", .tooManyRequests) == .seconds(5))
        #expect(try await delay("Tue, 14 Nov 2023 22:13:05 GMT") == .seconds(2))
        #expect(try await delay("soon") == .seconds(2))
    }

    @Test("A request that is unsafe to repeat is retried only if the policy allows it; a refusal has a reason")
    func safety() async throws {
        let policy = RetryPolicy(retries: 1, on: .any)
        let lost = NetworkError.Kind.connectionLostBeforeHead
        #expect(await reason(policy, try failure(lost, .post)) == "POST without an idempotency key")
        #expect(await delay(policy, try failure(lost, .put)) == .zero)
        #expect(await delay(policy, try failure(lost, .post, headers: [.idempotencyKey: "1"])) == .zero)
        let bold = RetryPolicy(retries: 1, on: .any, repeatsUnsafeRequests: true)
        #expect(await delay(bold, try failure(lost, .post)) == .zero)
    }

    @Test("A POST that no server has processed is retried")
    func unprocessed() async throws {
        let policy = RetryPolicy(retries: 1)
        for kind in [NetworkError.Kind.notProcessed, .cannotConnect, .cannotResolveHost, .connectTimedOut] {
            #expect(await delay(policy, try failure(kind, .post)) == .zero, "\(kind)")
        }
        #expect(await reason(policy, try failure(.idleTimedOut, .post)) == "POST without an idempotency key")
        let nested = try failure(.cannotConnect, .post, answer: (.created, []))
        #expect(
            await reason(policy, nested) == "POST without an idempotency key",
            "after a response, the error belongs to another call, for example of a converter")
    }

    @Test(
        "Retries are chosen by status, kind, error, endpoint, or by the first match of several conditions", .row("N-34")
    )
    func conditions() async throws {
        struct Other: Endpoint { let path: EndpointPath = "other" }
        func isRetried(_ condition: RetryPolicy.Condition, _ failure: RequestFailure) async -> Bool {
            await delay(RetryPolicy(retries: 1, on: condition), failure) != nil
        }
        let teapot = try failure(.unacceptableStatus, answer: (418, []))
        #expect(await isRetried(.statuses(418, 419), teapot))
        #expect(await !isRetried(.statuses(.conflict), teapot))
        #expect(await isRetried(.kinds(.tlsFailed), try failure(.tlsFailed)))
        #expect(await !isRetried(.kinds(.tlsFailed), teapot))
        #expect(await isRetried(.endpoint(Other.self), try failure(.cancelled, endpoint: Other())))
        #expect(await !isRetried(.endpoint(Other.self), teapot))
        var mapped = teapot
        mapped.error = UserError.taken
        #expect(await isRetried(.error(UserError.self), mapped))
        #expect(await !isRetried(.error(UserError.self), teapot))
        #expect(await isRetried(.first(of: .kinds(.tlsFailed), .statuses(418)), teapot))
        #expect(await isRetried(.any, try failure(.undecodableBody)))
        #expect(await isRetried(.transient, try failure(.connectionLostBeforeHead)))
        #expect(await !isRetried(.transient, try failure(.undecodableBody)))
        #expect(await !isRetried(.transient, try failure(.invalidRequest)))
    }

    @Test(
        "An async closure decides whether to retry: never, at once, after a wait, or with a changed request",
        .row("I-38"))
    func closure() async throws {
        let changed = HTTPRequest(.get, try #require(URL(string: "https://mirror.example")))
        func result(_ answer: RetryPolicy.Condition.Answer) async throws -> ErrorHandlingResult {
            let condition = RetryPolicy.Condition { _ in
                await Task.yield()
                return answer
            }
            return await RetryPolicy(retries: 1, backoff: .constant(.seconds(9)), on: condition)
                .result(of: try failure(.cannotConnect), after: .init(), using: Self.random)
        }
        guard case .next = try await result(.no) else { return #expect(Bool(false)) }
        guard case .retry(.zero, nil, _) = try await result(.retry(after: .zero)) else { return #expect(Bool(false)) }
        guard case .retry(.seconds(9), nil, _) = try await result(.retry()) else { return #expect(Bool(false)) }
        guard case .retry(.seconds(3), nil, _) = try await result(.retry(after: .seconds(3))) else {
            return #expect(Bool(false))
        }
        guard case .retry(.seconds(1), let request?, _) = try await result(.retry(after: .seconds(1), with: changed))
        else {
            return #expect(Bool(false))
        }
        #expect(request.url == changed.url)
    }

    @Test("No factor, step or time crashes the process, and no wait exceeds the limit")
    func hostileBackoff() {
        let longest = Duration.seconds(Int64.max)
        let times = [
            Duration.zero, .milliseconds(1), .seconds(Int64.max / 4), longest, .seconds(-1), .seconds(Int64.min),
        ]
        let factors = [Double.nan, .infinity, -.infinity, -1, 0, 1, 2, 1_000, .greatestFiniteMagnitude]
        for first in times {
            for limit in times {
                for retry in [0, 1, 19, 1_000, Int.max] {
                    for factor in factors {
                        let delay = RetryPolicy.Backoff.exponential(first: first, factor: factor, limit: limit)
                            .delay(before: min(retry, 100_000))
                        #expect(delay >= .zero && delay <= max(limit, .zero))
                    }
                    for step in times {
                        let delay = RetryPolicy.Backoff.linear(first: first, step: step, limit: limit)
                            .delay(before: retry)
                        #expect(delay >= .zero && delay <= max(limit, .zero))
                    }
                }
            }
        }
        let doubling = RetryPolicy.Backoff.exponential(first: .milliseconds(100))
        #expect((0..<4).map(doubling.delay) == [100, 200, 400, 800].map { .milliseconds($0) })
    }

    @Test("A policy that does not match a failure, or has no retries left, gives the reason")
    func reasons() async throws {
        let missing = try failure(.unacceptableStatus, answer: (.notFound, []))
        #expect(await reason(RetryPolicy(retries: 3), missing) == "the policy does not cover this failure")
        let down = try failure(.unacceptableStatus, answer: (.serviceUnavailable, []))
        #expect(await reason(RetryPolicy(retries: 3), down, retries: 3) == "the policy's 3 retries are used up")
        #expect(await reason(RetryPolicy(retries: 1), down, retries: 1) == "the policy's 1 retry is used up")
    }
}

extension Duration {
    fileprivate static func ~= (pattern: Duration, value: Duration) -> Bool { pattern == value }
}
