import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Tests the times of every attempt and every wait of a call, to the millisecond, on a manual clock.
@Suite("Timelines of a call", .endsInTime)
struct RetryTimelineTests {
    private let story = Story()
    private static let growing = RetryPolicy(retries: 3, backoff: .exponential(first: .milliseconds(200)))

    @Test("After repeated 503 responses, each wait is twice the previous one", .row("R-34"))
    func flaky() async throws {
        let task = story.call(.get, retry: Self.growing, answers: [.down, .down, .down, .text("at last")])
        for _ in 0..<3 { await story.clock.advanceToNextSleeper() }
        #expect(try await task.value == "at last")
        #expect(story.times == [0, 200, 600, 1_400])
    }

    @Test(
        "When the retries are used up, the last error is thrown with the number of attempts and the reason",
        .row("N-19"))
    func exhausted() async throws {
        let task = story.call(.get, retry: Self.growing, answers: [.down])
        for _ in 0..<3 { await story.clock.advanceToNextSleeper() }
        let error = try #require(await story.error(task))
        #expect(error.attempts == 4)
        #expect(
            error.description
                == "GET api.example.com/v1/story: 503 Service Unavailable (4 attempts; not retried: the policy's 3 retries are used up)"
        )
        #expect(story.times == [0, 200, 600, 1_400])
    }

    @Test("A retry after a 429 with a date waits until that date, to the second")
    func date() async throws {
        let late = StubResponse(
            .tooManyRequests, headers: [.retryAfter: HTTPDate(story.clock.date.addingTimeInterval(3)).description])
        let task = story.call(.get, retry: Self.growing, answers: [late, .text("ok")])
        await story.clock.advanceToNextSleeper()
        #expect(try await task.value == "ok")
        #expect(story.times == [0, 3_000])
    }

    @Test("A POST with a key is sent again with the same key after a lost connection; a new call has a new key")
    func keyed() async throws {
        for _ in 0..<2 {
            let task = story.call(
                .post, key: .unique, retry: Self.growing,
                answers: [.failure(.connectionLostBeforeHead), .down, .text("done")])
            for _ in 0..<2 { await story.clock.advanceToNextSleeper() }
            #expect(try await task.value == "done")
        }
        let keys = story.stub.requests.map { $0.headers[.idempotencyKey] ?? "" }
        #expect(Set(keys[0..<3]).count == 1 && Set(keys[3..<6]).count == 1)
        #expect(keys[0] != keys[3])
        #expect(UUID(uuidString: keys[0]) != nil)
        #expect(story.times == [0, 200, 600, 600, 800, 1_200])
    }

    @Test("A POST without a key is not sent again after a lost connection, and the error says why")
    func unkeyed() async throws {
        let task = story.call(.post, retry: Self.growing, answers: [.failure(.connectionLostBeforeHead)])
        let error = try #require(await story.error(task))
        #expect(error.retryDecision?.description == "not retried: POST without an idempotency key")
        #expect(error.description.hasSuffix("(not retried: POST without an idempotency key)"))
        #expect(story.times == [0])
    }

    @Test("A token refresh between retries does not count as a retry, and the policy continues with its next wait")
    func unauthorizedBetween() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
            AccessToken("new")
        }
        let task = story.call(
            .get, retry: Self.growing, session: session,
            answers: [.down, .status(.unauthorized), .down, .text("ok")])
        for _ in 0..<2 { await story.clock.advanceToNextSleeper() }
        #expect(try await task.value == "ok")
        #expect(story.times == [0, 200, 200, 600])
        #expect(
            story.stub.requests.map { $0.headers[.authorization] ?? "" }
                == ["Bearer old", "Bearer old", "Bearer new", "Bearer new"])
    }

    @Test("The policy of an endpoint replaces the policy of the service")
    func ownPolicy() async throws {
        let task = story.call(
            .get, own: RetryPolicy(retries: 1, backoff: .constant(.seconds(5))), retry: Self.growing,
            answers: [.down, .text("ok")])
        await story.clock.advanceToNextSleeper()
        #expect(try await task.value == "ok")
        #expect(story.times == [0, 5_000])
    }

    @Test("A policy can retry any failure once", .row("N-35"))
    func anyOnce() async throws {
        let task = story.call(
            .get, retry: RetryPolicy(retries: 1, on: .any), answers: [.status(.notFound), .text("ok")])
        #expect(try await task.value == "ok")
    }

    @Test("Each decision is stored in the history with its reason")
    func history() async throws {
        let failures = Box<[RequestFailure]>([])
        let watch = AdHocErrorHandler { failure in
            failures.change { $0.append(failure) }
            return .next(failure.error)
        }
        let task = story.call(
            .get, retry: RetryPolicy(retries: 2, backoff: .constant(.seconds(1))), handlers: [watch],
            answers: [.down, .failure(.connectionLostBeforeHead), .status(.gone)])
        for _ in 0..<2 { await story.clock.advanceToNextSleeper() }
        #expect(await story.error(task)?.status == .gone)
        let earlier = try #require(failures.value.last).history
        #expect(
            earlier.flatMap(\.decisions).map(\.description) == [
                "retried after 1 s: 503 Service Unavailable",
                "retried after 1 s: the connection was lost before a response was received",
            ])
        #expect(earlier.map(\.start) == [.zero, .seconds(1)])
    }
}

extension StubResponse {
    static var down: StubResponse { .status(.serviceUnavailable) }
}

/// A service on a manual clock that logs when its attempts reach the transport.
struct Story: Sendable {
    struct Call: Endpoint {
        let method: HTTPMethod
        let body: HTTPBody
        let idempotencyKey: IdempotencyKey
        let settings: RequestSettings
        let authorizationType: AuthorizationType
        var path: EndpointPath { "story" }
    }

    let clock = ManualClock()
    let stub: StubTransport
    private let log = Box<[Duration]>([])

    init() {
        stub = StubTransport(clock: clock.networkClock)
    }

    /// The times at which the attempts were sent, in milliseconds.
    var times: [Int] { log.value.map { Int($0 / .milliseconds(1)) } }

    func call(
        _ method: HTTPMethod, body: HTTPBody = .empty, key: IdempotencyKey = .none, own: RetryPolicy? = nil,
        retry: RetryPolicy, session: AccessTokenSupervisor? = nil, total: Duration? = nil,
        maximumAttempts: Int? = nil, handlers: [any ErrorHandler] = [], isMapped: Bool = true, answers: [StubResponse]
    ) -> RequestTask<String> {
        let left = Box(answers)
        let (log, clock) = (log, clock)
        stub.on(nil, nil) { _ in
            log.change { $0.append(clock.now.offset) }
            let answer = left.value[0]
            left.change { if $0.count > 1 { $0.removeFirst() } }
            return answer
        }
        let endpoint = Call(
            method: method, body: body, idempotencyKey: key, settings: RequestSettings { $0.retry = own },
            authorizationType: session == nil ? .none : .bearer)
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.retry = retry
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService(handlers)
            $0.errorMapping = isMapped ? .general : .unmapped
            $0.clock = clock.networkClock
        }
        return service.task(
            endpoint, as: .string,
            with: RequestSettings {
                $0.timeouts.total = total
                $0.maximumAttempts = maximumAttempts
            })
    }

    /// Returns the network error with which a call ends, even if the general mapping has replaced it.
    func error(_ task: RequestTask<String>) async -> NetworkError? {
        let error = await Fixture.failure { _ = try await task.value }
        return error as? NetworkError ?? (error as? GeneralRequestError)?.cause
    }
}
