import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Timelines of one call on the manual clock, with every attempt and every wait to the millisecond.
@Suite("Timelines of a call")
struct RetryTimelineTests {
    private let story = Story()

    private static let growing = RetryPolicy(retries: 3, backoff: .exponential(first: .milliseconds(200)))

    @Test("R-34: after repeated 503 responses, each wait is twice the previous one")
    func flaky() async throws {
        let task = story.call(.get, retry: Self.growing, answers: [.down, .down, .down, .text("at last")])
        for _ in 0..<3 { await story.clock.advanceToNextSleeper() }
        #expect(try await task.value == "at last")
        #expect(story.times == [0, 200, 600, 1_400])
    }

    @Test("N-19: when the retries are used up, the last error is thrown with the number of attempts and the reason")
    func exhausted() async throws {
        let task = story.call(.get, retry: Self.growing, answers: [.down])
        for _ in 0..<3 { await story.clock.advanceToNextSleeper() }
        let error = try #require(await story.error(task))
        #expect(error.attempts == 4)
        #expect(
            error.description
                == "GET api.example.com/v1/story: 503 Service Unavailable (4 attempts; not retried: the policy's 3 retries are used)"
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

    @Test("If a wait cannot end before the deadline, the call ends at once with the error of its response")
    func deadlineInTheWait() async throws {
        let task = story.call(
            .get, retry: RetryPolicy(retries: 5, backoff: .constant(.milliseconds(400))), total: .seconds(1),
            answers: [.down])
        for _ in 0..<2 { await story.clock.advanceToNextSleeper(of: 2) }
        let error = try #require(await story.error(task))
        #expect(error.status == .serviceUnavailable)
        #expect(error.description.contains("the wait of 0.4 s would not end before the call's deadline"))
        #expect(story.times == [0, 400, 800])
        #expect(story.clock.now.offset == .milliseconds(800))
    }

    @Test("A deadline that passes during a retry ends the call at that time")
    func deadlineInTheAttempt() async throws {
        let task = story.call(
            .get, retry: RetryPolicy(retries: 5, backoff: .constant(.milliseconds(400))), total: .seconds(1),
            answers: [.down, .text("late").delayed(by: .seconds(2))])
        await story.clock.advanceToNextSleeper(of: 2)
        await story.clock.advanceToNextSleeper(of: 2)
        #expect(await story.error(task)?.kind == .deadlineTimedOut)
        #expect(story.times == [0, 400])
        #expect(story.clock.now.offset == .seconds(1))
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

    @Test("`maximumAttempts` limits the attempts, and the error says so")
    func attempts() async throws {
        let task = story.call(
            .get, retry: RetryPolicy(retries: 50), maximumAttempts: 4, answers: [.down])
        let error = try #require(await story.error(task))
        #expect(error.retryDecision?.reason == "the maximum of 4 attempts is reached")
        #expect(story.times == [0, 0, 0, 0])
    }

    @Test("A body that cannot be read twice is not sent twice, and the error says so")
    func oneShot() async throws {
        let body = HTTPBody.source(length: 4, isReplayable: false) { try HTTPBody.string("text").open() }
        let task = story.call(.put, body: body, retry: Self.growing, answers: [.down])
        #expect(await story.error(task)?.retryDecision?.reason == "its body cannot be sent a second time")
        #expect(story.times == [0])
    }

    @Test("I-38: a call that is cancelled while it is sent or waits sends no retry and evaluates no condition")
    func cancelled() async throws {
        let asked = Box(0)
        let policy = RetryPolicy(
            retries: 5, backoff: .constant(.seconds(1)),
            on: RetryPolicy.Condition { _ in
                asked.change { $0 += 1 }
                return .retry()
            })
        let sending = story.call(.get, retry: policy, answers: [.text("late").delayed(by: .seconds(9))])
        await story.clock.waitForSleepers()
        #expect(sending.cancel())
        #expect(await story.error(sending)?.kind == .cancelled)
        #expect(asked.value == 0)
        let waiting = story.call(.get, retry: policy, answers: [.down])
        await story.clock.waitForSleepers()
        #expect(waiting.cancel() && !waiting.cancel())
        #expect(await story.error(waiting)?.kind == .cancelled)
        #expect(asked.value == 1)
        #expect(story.times == [0, 0])
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

    @Test("N-35: a policy can retry any failure once")
    func anyOnce() async throws {
        let task = story.call(
            .get, retry: RetryPolicy(retries: 1, on: .any), answers: [.status(.notFound), .text("ok")])
        #expect(try await task.value == "ok")
    }

    @Test("Each decision is stored in the history with its reason")
    func history() async throws {
        let failures = Box<[RequestFailure]>([])
        let watch = ClosureErrorHandler { failure in
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
                "retried after 1 s: the connection was lost before an answer came",
            ])
        #expect(earlier.map(\.start) == [.zero, .seconds(1)])
    }

    @Test("N-33: handlers can be added and removed at run time; a failure uses those registered when it happened")
    func registered() async throws {
        let handling = ErrorHandlingService([])
        let log = Box<[String]>([])
        let holder = Box<[ObservationToken]>([])
        @Sendable func handler(_ name: String, _ body: @escaping @Sendable () -> Void = {}) -> ClosureErrorHandler {
            ClosureErrorHandler { failure in
                log.change { $0.append(name) }
                body()
                return .next(failure.error)
            }
        }
        let second = handling.register(handler("second"))
        let first = handling.register(
            handler("third") {
                second.cancel()
                holder.change { $0 = [handling.register(handler("fourth"))] }
            })
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .down }
            $0.errorHandlingService = handling
        }
        for _ in 0..<2 { _ = await Fixture.failure { try await service.request(UserEndpoint.open) } }
        #expect(log.value == ["second", "third", "third", "fourth"])
        first.cancel()
        holder.change { $0 = [] }
        _ = await Fixture.failure { try await service.request(UserEndpoint.open) }
        #expect(log.value.count == 4)
    }

    @Test("A retry policy works at any position among the error handlers, also after the general one")
    func order() async throws {
        let stub = StubTransport()
        stub.on(nil, nil, .failure(.idleTimedOut), .text("ok"))
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService([
                GeneralErrorHandler(), RetryErrorHandler(RetryPolicy(retries: 1)),
            ])
        }
        #expect(try await service.request(UserEndpoint.open, as: .string) == "ok")
    }

    @Test("A retry that is not granted does not reduce the budget")
    func unpaid() async throws {
        let budget = RetryPolicy.Budget(reserve: 3)
        let stub = StubTransport { _ in StubResponse(.serviceUnavailable, headers: [.retryAfter: "30"]) }
        let service = NetworkService(environment: Fixture.environment) {
            $0.errorMapping = .unmapped
            $0.backoffGate = BackoffGate(longest: .zero)
            $0.retry = RetryPolicy(retries: 2)
            $0.retry?.budget = budget
            $0.transport = stub
        }
        let settings = RequestSettings(timeouts: HTTPRequest.Timeouts(total: .seconds(5)))
        let error = await Fixture.failure { try await service.request(UserEndpoint.open, with: settings) }
        #expect((error as? NetworkError)?.retryDecision?.reason.contains("would not end before") == true)
        #expect(budget.balance == 3)
    }

    @Test("The error of a cancelled call also contains the number of attempts")
    func attemptsOfCancelled() async throws {
        let task = story.call(
            .get, retry: RetryPolicy(retries: 5, backoff: .constant(.seconds(1))), isMapped: false, answers: [.down])
        for _ in 0..<2 { await story.clock.advanceToNextSleeper() }
        await story.clock.waitForSleepers()
        #expect(task.cancel())
        let error = await Fixture.failure { _ = try await task.value } as? NetworkError
        #expect(error?.kind == .cancelled)
        #expect(error?.attempts == 3)
    }

    @Test("Retries reduce the budget, and successes fill it")
    func budget() async throws {
        let budget = RetryPolicy.Budget(share: 0.5, reserve: 1, capacity: 2)
        let stub = StubTransport()
        let service = NetworkService(environment: Fixture.environment) {
            $0.retry = RetryPolicy(retries: 5)
            $0.retry?.budget = budget
            $0.transport = stub
        }
        stub.on(nil, nil, .down)
        let error = await Fixture.failure { try await service.request(UserEndpoint.open) } as? NetworkError
        #expect(error?.retryDecision?.reason == "the retry budget is used up")
        #expect(stub.requests.count == 2)
        stub.on(nil, nil, .text("ok"))
        for _ in 0..<10 { try await service.request(UserEndpoint.open) }
        #expect(budget.balance == 2)
        stub.on(nil, nil, .down)
        _ = await Fixture.failure { try await service.request(UserEndpoint.open) }
        #expect(stub.requests.count == 2 + 10 + 3)
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
            with: RequestSettings(timeouts: HTTPRequest.Timeouts(total: total), maximumAttempts: maximumAttempts))
    }

    /// Returns the network error with which a call ends, also if the general mapping has replaced it.
    func error(_ task: RequestTask<String>) async -> NetworkError? {
        let error = await Fixture.failure { _ = try await task.value }
        return error as? NetworkError ?? (error as? GeneralRequestError)?.cause
    }
}
