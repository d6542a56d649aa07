import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Limits of retries", .endsInTime)
struct RetryLimitTests {
    private let story = Story()
    private static let growing = RetryPolicy(retries: 3, backoff: .exponential(first: .milliseconds(200)))

    @Test("If a wait cannot end before the deadline, the call ends at once with the error of its response")
    func deadlineInTheWait() async throws {
        let task = story.call(
            .get, retry: RetryPolicy(retries: 5, backoff: .constant(.milliseconds(400))), total: .seconds(1),
            answers: [.down])
        for _ in 0..<2 { await story.clock.advanceToNextSleeper(of: 2) }
        let error = try #require(await story.error(task))
        #expect(error.status == .serviceUnavailable)
        #expect(error.description.contains("not retried: 0.2 s left before the deadline, the retry needs 0.4 s"))
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

    @Test("`maximumAttempts` limits the attempts, and the error says so")
    func attempts() async throws {
        let task = story.call(
            .get, retry: RetryPolicy(retries: 50), maximumAttempts: 4, answers: [.down])
        let error = try #require(await story.error(task))
        #expect(error.retryDecision?.reason == "the maximum of 4 attempts is reached (maximumAttempts)")
        #expect(story.times == [0, 0, 0, 0])
    }

    @Test("A body that cannot be read twice is not sent twice, and the error says so")
    func oneShot() async throws {
        let body = HTTPBody.source(length: 4, isReplayable: false) { try HTTPBody.string("text").open() }
        let task = story.call(.put, body: body, retry: Self.growing, answers: [.down])
        #expect(await story.error(task)?.retryDecision?.reason == "the body cannot be sent a second time")
        #expect(story.times == [0])
    }

    @Test(
        "A call that is cancelled during a transfer or a retry delay sends no retry and evaluates no more conditions",
        .row("I-38"))
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

    @Test(
        "Handlers can be added and removed at run time; a failure is passed to the handlers that are registered then",
        .row("N-33"))
    func registered() async throws {
        let handling = ErrorHandlingService([])
        let log = Box<[String]>([])
        let holder = Box<[ObservationToken]>([])
        @Sendable func handler(_ name: String, _ body: @escaping @Sendable () -> Void = {}) -> AdHocErrorHandler {
            AdHocErrorHandler { failure in
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

    @Test("A retry policy works at any position among the error handlers, even after the general handler")
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
        let settings = RequestSettings { $0.timeouts.total = .seconds(5) }
        let error = await Fixture.failure { try await service.request(UserEndpoint.open, with: settings) }
        #expect((error as? NetworkError)?.retryDecision?.reason.contains("left before the deadline") == true)
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

    private enum Order: Endpoint {
        case poll

        var path: EndpointPath { "orders" }
        var authorizationType: AuthorizationType { .bearer }
    }

    @Test("Two retry handlers of one service count their retries separately")
    func twoHandlers() async throws {
        let stub = StubTransport { _ in .status(.serviceUnavailable) }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService([
                RetryErrorHandler(RetryPolicy(retries: 2)), RetryErrorHandler(RetryPolicy(retries: 3)),
            ])
        }
        _ = await Fixture.failure { try await service.request(Order.poll) }
        #expect(stub.requests.count == 1 + 2 + 3)
    }
}
