import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Tasks derived from tasks", .endsInTime)
struct DerivedTaskTests {
    private let manual = ManualTransport()
    private let queue = DispatchQueue(label: "callbacks")

    private func service(_ transport: (any Transport)? = nil, retry: RetryPolicy? = nil) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.retry = retry
            $0.transport = transport ?? manual
        }
    }

    private func task(_ transport: (any Transport)? = nil, retry: RetryPolicy? = nil) -> RequestTask<String> {
        service(transport, retry: retry).task(UserEndpoint.open, as: .string)
    }

    private func answering(_ text: String) -> RequestTask<String> { task(StubTransport { _ in .text(text) }) }
    private let log = Box<[String]>([])
    private func note(_ text: String) { log.change { $0.append(text) } }

    @Test(
        "Tasks can be mapped, flat-mapped and recovered; the first error passes through the following tasks",
        .row("I-23"))
    func chaining() async throws {
        let task = answering("7")
        #expect(try await task.map { Int($0) ?? 0 }.value == 7)
        #expect(try await task.flatMap { text in answering(text + "8") }.value == "78")
        #expect(
            try await task.map { text in
                await Task.yield()
                return text.count
            }.value == 1)
        let failed = service(StubTransport { _ in .status(.notFound) }).task(UserEndpoint.open, as: .string)
        let after = failed.map { $0.count }.map { $0 + 1 }.flatMap { _ in task }
        #expect(await Fixture.failure { _ = try await after.value } as? GeneralRequestError == .notFound)
        #expect(try await failed.recover { _ in "none" }.value == "none")
        let worse = failed.recover { _ in throw UserError.cloudy }
        #expect(await Fixture.failure { _ = try await worse.value } as? UserError == .cloudy)
        let mapped = failed.map { $0 }
        #expect(await Fixture.failure { _ = try await mapped.response } as? GeneralRequestError == .notFound)
    }

    @Test("`all` combines two or many tasks in their order, and ends with the first error", .row("I-24"))
    func all() async throws {
        let two = try await RequestTask.all(answering("a"), answering("b").map { $0.utf8.count }).value
        #expect(two == ("a", 1))
        let many = try #require(RequestTask.all((0..<20).map { answering("\($0)") }))
        #expect(try await many.value == (0..<20).map(String.init))
        #expect(RequestTask<[String]>.all([RequestTask<String>]()) == nil)
        let failed = service(StubTransport { _ in .status(.notFound) }).task(UserEndpoint.open, as: .string)
        let pending = task()
        let pair = RequestTask.all(pending, failed)
        #expect(await Fixture.failure { _ = try await pair.value } as? GeneralRequestError == .notFound)
        #expect(
            await Fixture.failure { _ = try await pending.value } as? GeneralRequestError == .cancelled,
            "no other task waits for `pending`")
    }

    @Test("If one task of `all` has failed, the other tasks are cancelled, except those that something else observes")
    func allWithFailure() async throws {
        let failed = service(StubTransport { _ in .status(.notFound) }).task(UserEndpoint.open, as: .string)
        _ = try? await failed.value
        let watched = task()
        watched.onFailure(on: queue) { note("\($0)") }
        let unwatched = task()
        await manual.waitForRequests(2)
        _ = try? await RequestTask.all(failed, watched).value
        _ = try? await #require(RequestTask.all([failed, unwatched])).value
        #expect(watched.result == nil)
        #expect(unwatched.isCancelled)
        watched.cancel()
    }

    @Test("Cancelling a derived task ends the call, unless another task waits for the call")
    func cancellingDerived() async throws {
        let alone = task()
        let derived = alone.map { $0 }.map { $0 }
        await manual.waitForRequests()
        #expect(derived.cancel() && !derived.cancel())
        #expect(await Fixture.failure { _ = try await derived.value } as? GeneralRequestError == .cancelled)
        if case .cancelled = alone.state {} else { #expect(Bool(false), "\(alone.state)") }

        let other = ManualTransport()
        let shared = task(other)
        let one = shared.map { $0 + "1" }
        let two = shared.map { $0 + "2" }
        await other.waitForRequests()
        #expect(one.cancel())
        #expect((await Fixture.failure { _ = try await one.value } as? NetworkError)?.kind == .cancelled)
        other.answer(.ok, "x")
        #expect(try await two.value == "x2")
        if case .cancelled = one.state {} else { #expect(Bool(false), "\(one.state)") }
    }

    @Test("A cancelled derived task starts no call; a task that continues with another call reports that call")
    func derivedFollows() async throws {
        let other = ManualTransport()
        let shared = task(other)
        let begun = Box(0)
        let next = shared.flatMap { _ in
            begun.change { $0 += 1 }
            return answering("x")
        }
        let kept = shared.map { $0 }
        await other.waitForRequests()
        next.cancel()
        other.answer(.ok, "first")
        _ = try await kept.value
        #expect(begun.value == 0)
        let first = answering("first")
        let second = service(StubTransport { _ in .text("second") }).task(.get("second"), as: .string)
        _ = try await second.value
        let following = first.flatMap { _ in second }
        following.onAttempt(on: queue) { note($0.request?.url.lastPathComponent ?? "") }
        #expect(try await following.value == "second")
        queue.sync {}
        #expect(log.value == ["second"])
        #expect(following.progress.download.completed == 6 && following.request?.url.lastPathComponent == "second")
    }

    @Test("If a cancelled Swift task derives a task from a completed task, the derived task is not cancelled")
    func derivedInCancelledTask() async throws {
        let done = answering("a")
        _ = try await done.value
        let derived = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return done.map { $0 + "b" }
        }.value
        #expect(try await derived.value == "ab")
    }

    @Test(
        "Each task completes once, even if callbacks, cancellations and responses come in random order on many threads")
    func walk() async {
        let rounds = ProcessInfo.processInfo.environment["SANITIZER"] == nil ? 10_000 : 5_000
        let told = Box((success: 0, failure: 0, completed: 0, twice: 0))
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask { await Walk(seed: UInt64(worker), told: told).run(rounds / 4) }
            }
        }
        let sum = told.value
        #expect(sum.twice == 0)
        #expect(sum.completed == rounds)
        #expect(sum.success + sum.failure == rounds)
        #expect(sum.success > rounds / 20 && sum.failure > rounds / 20)
    }

    private struct Walk {
        var random: SeededGenerator
        let told: Box<(success: Int, failure: Int, completed: Int, twice: Int)>

        init(seed: UInt64, told: Box<(success: Int, failure: Int, completed: Int, twice: Int)>) {
            random = SeededGenerator(seed: seed)
            self.told = told
        }

        func run(_ rounds: Int) async {
            var random = random
            let queue = DispatchQueue(label: "walk")
            for _ in 0..<rounds {
                let transport = ManualTransport()
                let service = NetworkService(environment: Fixture.environment) {
                    $0.transport = transport
                }
                let task = service.task(UserEndpoint.open, as: .string)
                let derived = Bool.random(using: &random) ? task.map { $0 } : task
                var actions: [@Sendable () async -> Void] = [
                    { _ = derived.cancel() },
                    {
                        await transport.waitForRequests(); transport.answer(.ok, "x")
                    },
                    { _ = derived.onStart(on: queue) {}.onProgress(on: queue) { _ in }.onAttempt(on: queue) { _ in } },
                    { _ = derived.state },
                ]
                if Bool.random(using: &random) { actions.removeFirst() }
                let answers = Box(0)
                derived.onCompletion(on: queue) { _ in
                    answers.change { $0 += 1 }
                    told.change { $0.completed += 1 }
                }
                actions.shuffle(using: &random)
                let running = actions.map { action in Task { await action() } }
                let outcome = await Fixture.failure { _ = try await derived.value }
                told.change { if outcome == nil { $0.success += 1 } else { $0.failure += 1 } }
                // If a call was cancelled before it was sent, the action that waits for its request never ends by
                // itself.
                for action in running { action.cancel() }
                queue.sync {}
                if answers.value != 1 { told.change { $0.twice += 1 } }
            }
        }
    }

    @Test("Cancelling the task of an asynchronous map cancels its closure")
    func cancelledClosure() async throws {
        let (begun, end) = (Settlement<Void>(), Settlement<Void>())
        let isCancelled = Box(false)
        let task = answering("7").map { text in
            begun.settle(.success(()))
            await withTaskCancellationHandler {
                await withCheckedContinuation { done in end.observe { _ in done.resume() } }
            } onCancel: {
                isCancelled.change { $0 = true }
            }
            return text.count
        }
        await begun.wait()
        #expect(task.cancel())
        #expect(isCancelled.value)
        end.settle(.success(()))
        await #expect(throws: NetworkError.self) { _ = try await task.value }
    }

    @Test("A task may follow a task with very many ways to one call")
    func manyWays() async throws {
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .text("x") }
        }
        let held = ManualTransport()
        let waiting = NetworkService(environment: Fixture.environment) { $0.transport = held }
        var task = waiting.task(.get("x"), as: .string)
        for _ in 0..<64 { task = RequestTask.all(task, task).map(\.0) }
        let wide = task
        let first = service.task(.get("first"), as: .string)
        let follower = first.flatMap { _ in wide }
        _ = try await first.value
        await held.waitForRequests()
        held.answer(.ok, "y")
        #expect(try await follower.value == "y")
    }
}
