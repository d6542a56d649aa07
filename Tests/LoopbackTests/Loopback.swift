import Foundation
import Networking
import Testing

/// The tests on real sockets. They run one after another, because Foundation on Linux serves all sessions of a process
/// from one queue (L21): parallel tests would distort each other's times. The other test target runs in the same
/// process. The tests begin when the tasks of the process run promptly. A test that hangs fails after five minutes, which
/// is long on any machine.
@Suite("Loopback", .serialized, .withManyDescriptors, .whenTasksRunPromptly, .onExecutor, .timeLimit(.minutes(5)))
enum Loopback {}

/// Delays a suite until tasks of the process run promptly. Without this delay, a test that measures time would also
/// measure the time that its tasks wait for other tests.
struct PromptTasksTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(120)  // then the tests run anyway
        var promptRounds = 0
        while promptRounds < 50, clock.now < end {
            let latency = await clock.measure { await Task.yield() }
            promptRounds = latency < .milliseconds(10) ? promptRounds + 1 : 0
            try await Task.sleep(for: .milliseconds(10))
        }
        try await function()
    }
}

extension Trait where Self == PromptTasksTrait {
    /// Delays a suite until tasks of the process run promptly, for at most two minutes.
    static var whenTasksRunPromptly: PromptTasksTrait { PromptTasksTrait() }
}

#if os(Linux)
    /// Runs each test on the threads of a transport of its own if the environment variable `NETWORKING_EXECUTOR` is set:
    /// see ``CurlTransport/executor``. `.ci/executor` sets it.
    struct ExecutorTrait: SuiteTrait, TestTrait, TestScoping {
        let isRecursive = true

        func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
        ) async throws {
            guard testCase != nil, ProcessInfo.processInfo.environment["NETWORKING_EXECUTOR"] != nil else {
                return try await function()
            }
            let transport = try CurlTransport()
            try await withTaskExecutorPreference(transport.executor) { try await function() }
            withExtendedLifetime(transport) {}
        }
    }
#else
    struct ExecutorTrait: SuiteTrait, TestTrait {}
#endif

extension Trait where Self == ExecutorTrait {
    /// Runs each test on the threads of a transport, if the environment asks for it.
    static var onExecutor: ExecutorTrait { ExecutorTrait() }
}
