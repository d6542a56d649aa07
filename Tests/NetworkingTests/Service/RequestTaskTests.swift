import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Request tasks", .endsInTime)
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

    @Test("A call starts at once, with or without callbacks", .row("I-14", "N-15", "P-21"))
    func eager() async {
        _ = task()
        await manual.waitForRequests()
        #expect(manual.count == 1)
    }

    @Test(
        "The first `cancel()` returns true, ends the call and runs `onCancel` callbacks in reverse order",
        .row("I-25", "N-22", "P-20"))
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

    @Test("State, result, request and identity of a task can be read at any time", .row("I-26", "P-10", "N-17"))
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

    @Test("The state of a task shows that it waits for a retry, and for how long", .row("I-27"))
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

    @Test("Callbacks for start, attempts and success run in order, even if they are added twice or late", .row("N-20"))
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
}

extension Result {
    var isSuccess: Bool { if case .success = self { true } else { false } }
}
