import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Request tasks")
struct RequestTaskTests {
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

    @Test("I-14, N-15, P-21: a call starts at once, with or without callbacks")
    func eager() async {
        _ = task()
        await manual.waitForRequests()
        #expect(manual.count == 1)
    }

    @Test(
        "I-20, I-21, I-22: callbacks for success, failure and completion run once, on their queue, also if added late"
    )
    func registrations() async throws {
        let task = answering("a")
        let first = task.map { $0 + "b" }
        #expect(try await first.value == "ab")
        let failing = task.map { _ -> String in throw UserError.taken }
        #expect(await Fixture.failure { _ = try await failing.value } as? UserError == .taken)
        for round in 0..<2 {
            task.onSuccess(on: queue) { note("\(round) \($0)") }
                .onFailure(on: queue) { _ in note("never") }
                .onCompletion(on: queue) { note("\(round) \($0.isSuccess)") }
            failing.onSuccess(on: queue) { _ in note("never") }
                .onFailure(on: queue) { note("\(round) \($0)") }
                .onCompletion(on: queue) { note("\(round) \($0.isSuccess)") }
        }
        queue.sync {}
        #expect(
            log.value == [
                "0 a", "0 true", "0 taken", "0 false", "1 a", "1 true", "1 taken", "1 false",
            ])
    }

    @Test("I-23: tasks can be mapped, flat-mapped and recovered; the first error passes through the following tasks")
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

    @Test("I-24: `all` combines two or many tasks in their order, and the first error fails all")
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
            "no other task waits for it")
    }

    @Test("1.3: `all` with a failed task cancels exactly the other tasks that nothing else observes")
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

    @Test("I-25, N-22, P-20: the first `cancel()` returns true, ends the call and runs its callbacks in reverse order")
    func cancelling() async {
        let task = task()
        await manual.waitForRequests()
        for number in 0..<3 { task.onCancel(on: queue) { note("\(number)") } }
        task.onSuccess(on: queue) { _ in note("never") }.onFailure(on: queue) {
            note("\(($0 as? GeneralRequestError).map { "\($0.code)" } ?? "\($0)")")
        }
        #expect(task.cancel() && !task.cancel())
        #expect(await Fixture.failure { _ = try await task.value } as? GeneralRequestError == .cancelled)
        task.onCancel(on: queue) { note("late") }
        queue.sync {}
        #expect(log.value == ["2", "1", "0", "cancelled", "late"])
        if case .cancelled = task.state {} else { #expect(Bool(false), "\(task.state)") }
        let done = answering("a")
        done.onCancel(on: queue) { note("never") }
        _ = try? await done.value
        #expect(!done.cancel())
        queue.sync {}
        #expect(!log.value.contains("never"))
    }

    @Test("Cancelling a derived task ends the call, unless another task waits for it")
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
        let following = first.flatMap { _ in second }
        following.onAttempt(on: queue) { note($0.request?.url.lastPathComponent ?? "") }
        #expect(try await following.value == "second")
        queue.sync {}
        #expect(log.value == ["second"])
        #expect(following.progress.download.completed == 6 && following.request?.url.lastPathComponent == "second")
    }

    @Test("A task that is derived from a completed task in a cancelled Swift task is not cancelled")
    func derivedInCancelledTask() async throws {
        let done = answering("a")
        _ = try await done.value
        let derived = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return done.map { $0 + "b" }
        }.value
        #expect(try await derived.value == "ab")
    }

    @Test("I-26, P-10, N-17: state, result, request and identity of a task can be read at any time")
    func peeking() async throws {
        let task = task()
        #expect(task.result == nil)
        await manual.waitForRequests()
        #expect(task.request?.url.path == "/v1/open")
        if case .running = task.state {} else { #expect(Bool(false), "\(task.state)") }
        manual.answer(.ok, "x")
        _ = try await task.value
        #expect(try task.result?.get() == "x")
        if case .completed = task.state {} else { #expect(Bool(false), "\(task.state)") }
        #expect(task.id != self.task().id)
        let failed = self.task(StubTransport { _ in .status(.notFound) })
        _ = await Fixture.failure { _ = try await failed.value }
        if case .failed(let error) = failed.state {
            #expect(error as? GeneralRequestError == .notFound)
        } else {
            #expect(Bool(false), "\(failed.state)")
        }
    }

    @Test("I-27, U24: the state of a task shows that it waits to retry, and how long")
    func states() async throws {
        let clock = ManualClock()
        let stub = StubTransport()
        stub.on(nil, nil, .status(.serviceUnavailable), .text("x"))
        let service = NetworkService(environment: Fixture.environment) {
            $0.retry = RetryPolicy(retries: 1, backoff: .constant(.seconds(7)))
            $0.transport = stub
            $0.clock = clock.networkClock
        }
        let task = service.task(UserEndpoint.open, as: .string)
        await clock.waitForSleepers()
        if case .retrying(let delay) = task.state {
            #expect(delay == .seconds(7))
        } else {
            #expect(Bool(false), "\(task.state)")
        }
        clock.advance(by: .seconds(7))
        #expect(try await task.value == "x")
    }

    @Test("N-20: callbacks for start, attempts and success run in order, also if several are added, and late")
    func told() async throws {
        let stub = StubTransport()
        stub.on(nil, nil, .status(.serviceUnavailable), .text("x"))
        let task = task(stub, retry: RetryPolicy(retries: 1))
        for _ in 0..<2 {
            task.onStart(on: queue) { note("start") }.onAttempt(on: queue) {
                note("\($0.number) \($0.response?.status.code ?? 0) \($0.error == nil)")
            }
            .onSuccess(on: queue) { note($0) }
            _ = try await task.value
            queue.sync {}
        }
        #expect(log.value.filter { $0 == "start" }.count == 2)
        #expect(log.value.suffix(4) == ["start", "1 503 false", "2 200 true", "x"])
        #expect(log.value.prefix(4).last == "x")
        let attempts = Box<[RequestAttempt]>([])
        task.onAttempt(on: queue) { attempt in attempts.change { $0.append(attempt) } }
        queue.sync {}
        #expect(attempts.value.map(\.number) == [1, 2])
        #expect(attempts.value[0].description.contains("503 Service Unavailable to GET api.example.com/v1/open"))
    }

    @Test("An observer that is added during a notification is notified after the earlier observers")
    func order() async {
        let settlement = Settlement<Int>()
        let order = Box<[Int]>([])
        let (isNotified, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        settlement.observe { _ in
            isNotified.signal()
            goOn.wait()
            order.change { $0.append(1) }
        }
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            settlement.settle(.success(1))
            isDone.signal()
        }
        await Task.detached { RequestTaskTests.wait(for: isNotified) }.value
        settlement.observe { _ in order.change { $0.append(2) } }
        #expect(order.value.isEmpty)
        #expect(settlement.outcome != nil)
        goOn.signal()
        await Task.detached { RequestTaskTests.wait(for: isDone) }.value
        #expect(order.value == [1, 2])
        settlement.observe { _ in order.change { $0.append(3) } }
        #expect(order.value == [1, 2, 3])
    }

    private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

    @Test("Callbacks run on the main actor or the given queue and hold no lock; decoding runs on neither")
    func queues() async throws {
        let key = DispatchSpecificKey<String>()
        let own = DispatchQueue(label: "own")
        own.setSpecific(key: key, value: "own")
        let reading = ResponseConverter<String> { response in
            #expect(DispatchQueue.getSpecific(key: key) == nil)
            return String(decoding: response.data, as: UTF8.self)
        }
        let task = service(StubTransport { _ in .text("x") }).task(UserEndpoint.open, as: reading)
        await withCheckedContinuation { continuation in
            task.onSuccess { _ in
                MainActor.assertIsolated()
                #expect(DispatchQueue.getSpecific(key: key) == nil)
            }
            task.onSuccess(on: own) { _ in
                #expect(DispatchQueue.getSpecific(key: key) == "own")
                // With a lock held, each of these calls would wait forever.
                _ = (task.state, task.result, task.cancel(), task.progress)
                task.onSuccess(on: own) { _ in continuation.resume() }
            }
        }
    }

    @Test("A task that is not stored continues, and its callbacks run")
    func dropped() async {
        await withCheckedContinuation { continuation in
            answering("x").map { $0 + "y" }.onSuccess(on: queue) {
                #expect($0 == "xy")
                continuation.resume()
            }
        }
    }

    @Test("Callbacks, cancellations and responses in random order on many threads: each task completes once")
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
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
