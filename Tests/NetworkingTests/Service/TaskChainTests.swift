import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Long chains of tasks", .endsInTime)
struct TaskChainTests {
    private let service = NetworkService(environment: Fixture.environment) {
        $0.transport = StubTransport { _ in .text("x") }
        $0.concurrencyLimit = nil
        $0.backoffGate = nil
    }

    /// Runs `body` on a thread with a stack of 512 KB, as secondary threads on Apple platforms have.
    private func onSmallStack(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            let thread = Thread {
                body()
                continuation.resume()
            }
            thread.stackSize = 512 << 10
            thread.start()
        }
    }

    /// Polls with `flatMap` until `count` rounds have passed.
    private static func poll(_ task: RequestTask<String>, _ rounds: Box<Int>, of count: Int) -> RequestTask<String> {
        task.flatMap { value in
            rounds.change { $0 += 1 }
            return rounds.value >= count ? task.map { _ in "done" } : poll(task, rounds, of: count)
        }
    }

    private static let length = ProcessInfo.processInfo.environment["SANITIZER"] == nil ? 20_000 : 2_000

    @Test("Polling by flatMap for 20,000 rounds needs no more stack than one round")
    func polling() async throws {
        let task = service.task(.get("x"), as: .string)
        _ = try await task.value
        let rounds = Box(0)
        let end = Box<RequestTask<String>?>(nil)
        await onSmallStack {
            end.change { $0 = Self.poll(task, rounds, of: Self.length) }
        }
        #expect(try await end.value?.value == "done")
        #expect(rounds.value == Self.length)
    }

    @Test("Polling by flatMap keeps the tasks of two rounds alive, not the tasks of all rounds")
    func pollingMemory() async throws {
        let service = service
        let alive = Box<[Weak]>([])
        let most = Box(0)
        let rounds = Box(0)
        @Sendable func poll() -> RequestTask<String> {
            let round = service.task(.get("x"), as: .string).flatMap { value in
                rounds.change { $0 += 1 }
                let count = alive.value.count { $0.task != nil }
                most.change { $0 = max($0, count) }
                return rounds.value >= 200 ? service.task(.get("x"), as: .string) : poll()
            }
            alive.change { $0.append(Weak(task: round)) }
            return round
        }
        let first = poll()
        #expect(try await first.value == "x")
        #expect(most.value <= 5, "\(most.value) tasks were alive")
    }

    private struct Weak: Sendable {
        weak var task: RequestTask<String>?
    }

    @Test("A chain of 20,000 flatMaps settles, is cancelled and is released on a small stack")
    func longChain() async throws {
        for isCancelled in [false, true] {
            let transport = ManualTransport()
            let service = NetworkService(environment: Fixture.environment) {
                $0.errorMapping = .unmapped
                $0.transport = transport
                $0.concurrencyLimit = nil
                $0.backoffGate = nil
            }
            let first = service.task(.get("x"), as: .string)
            let done = Box(0)
            let last = Box<RequestTask<String>?>(first)
            for _ in 0..<Self.length {
                last.change { task in
                    task = task?.flatMap { _ in
                        done.change { $0 += 1 }
                        return first
                    }
                }
            }
            await transport.waitForRequests()
            if isCancelled {
                await onSmallStack { last.value?.cancel() }
                await #expect(throws: NetworkError.self) { _ = try await last.value?.value }
                #expect(first.isCancelled)
            } else {
                transport.answer(.ok, "end")
                #expect(try await last.value?.value == "end")
                #expect(done.value == Self.length)
            }
            await onSmallStack { last.change { $0 = nil } }
        }
    }

    @Test("Cancelling the first task of a poll ends the call of the newest round")
    func cancelPoll() async throws {
        let transport = ManualTransport()
        let service = NetworkService(environment: Fixture.environment) {
            $0.errorMapping = .unmapped
            $0.transport = transport
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
        }
        @Sendable func poll() -> RequestTask<String> {
            service.task(.get("x"), as: .string).flatMap { _ in poll() }
        }
        let first = poll()
        for _ in 0..<5 {
            await transport.waitForRequests()
            transport.answer()
        }
        await transport.waitForRequests()
        #expect(first.cancel())
        await #expect(throws: NetworkError.self) { _ = try await first.value }
        while transport.endedCount == 0 { await Task.yield() }
        #expect(transport.count == 6)
    }

    @Test("The report, the attempts and the request of a poll are those of its last call")
    func track() async throws {
        let stub = StubTransport()
        stub.on(nil, nil, .text("1"), .text("2"), .status(.notFound))
        let service = NetworkService(environment: Fixture.environment) {
            $0.errorMapping = .unmapped
            $0.transport = stub
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
        }
        @Sendable func poll(_ id: Int) -> RequestTask<String> {
            service.task(.get("round\(id)"), as: .string).flatMap { _ in
                id == 2 ? service.task(.get("last"), as: .string) : poll(id + 1)
            }
        }
        let attempts = Box<[String]>([])
        let first = poll(1).onAttempt(on: DispatchQueue(label: "attempts")) { attempt in
            attempts.change { $0.append(attempt.request?.url.path ?? "") }
        }
        await #expect(throws: NetworkError.self) { _ = try await first.value }
        #expect(first.report?.status == .notFound)
        #expect(first.request?.url.path == "/v1/last")
        while attempts.value.isEmpty { await Task.yield() }
        #expect(attempts.value == ["/v1/last"])
    }

    @Test("A task that another task waits for is not cancelled, regardless of which task was derived first")
    func interest() async throws {
        let transport = ManualTransport()
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
        }
        let inner = service.task(.get("inner"), as: .string)
        let outer = service.task(.get("outer"), as: .string).flatMap { _ in inner }
        let other = inner.map { $0 + "!" }
        await transport.waitForRequests(2)
        while transport.count < 2 { await Task.yield() }
        transport.answer(.ok, "x")
        transport.answer(.ok, "x")
        outer.cancel()
        #expect(try await other.value == "x!")
    }

    @Test("A call ends if only a passed-over task still uses it, regardless of which task was derived first")
    func passedOver() throws {
        let response = HTTPResponse(.ok, to: HTTPRequest(.get, try #require(URL(string: "https://a.example/"))))
        func task() -> RequestTask<String> { RequestTask(of: .get("x"), track: CallTrack(), waitingFor: []) }
        for isFollowingFirst in [true, false] {
            let (first, second, call) = (task(), task(), task())
            let inner = (isFollowingFirst ? first : second).flatMap { _ in call }
            let outer = first.flatMap { _ in inner }
            first.settle(.success(Response("x", response)))
            second.settle(.success(Response("x", response)))
            inner.interest.join()
            inner.interest.leave()  // a caller that has stopped waiting
            outer.cancel()
            #expect(call.isCancelled, "inner follows the call before outer follows inner: \(isFollowingFirst)")
        }
    }

    @Test(
        "If the closure of a task returns that task, or one derived from it, the task fails and does not wait forever",
        arguments: [
            { $0 }, { $0.map { $0 } }, { $0.recover { throw $0 } }, { task in task.flatMap { _ in task } },
            { task in RequestTask.all(task, task).map(\.0) },
        ] as [@Sendable (RequestTask<String>) -> RequestTask<String>])
    func itself(derive: @escaping @Sendable (RequestTask<String>) -> RequestTask<String>) async throws {
        let made = Box<RequestTask<String>?>(nil)
        let transport = ManualTransport()
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
        }
        let first = service.task(.get("x"), as: .string)
        let task = first.flatMap { _ in made.value.map(derive) ?? first }
        made.change { $0 = task }
        await transport.waitForRequests()
        transport.answer(.ok, "x")
        await #expect(throws: NetworkError.self) { _ = try await task.value }
        made.change { $0 = nil }
    }

    @Test("A task that follows a running call is running, too; when that call has ended, it has the call's report")
    func runningCall() async throws {
        let transport = ManualTransport()
        let service = NetworkService(environment: Fixture.environment) { $0.transport = transport }
        let stub = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .text("first") }
        }
        let second = service.task(.get("second"), as: .string)
        await transport.waitForRequests()
        let first = stub.task(.get("first"), as: .string)
        let task = first.flatMap { _ in second }
        _ = try await first.value
        if case .running = task.state {} else { #expect(Bool(false), "\(task.state)") }
        #expect(task.request?.url.path == "/v1/second")
        transport.answer(.ok, "x")
        #expect(try await task.value == "x")
        #expect(task.report?.endpoint?.path.description == "second")
        #expect(task.report?.attempts.count == 1)
    }
}
