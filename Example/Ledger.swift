import Foundation

/// A counter of the calls of the tour, which also checks that each call has the expected result.
final class Ledger: @unchecked Sendable {  // because of the lock around every variable
    private let lock = NSLock()
    private var calls = 0
    private var answered = 0
    /// The number of expected failures, by reason.
    private var failures: [String: Int] = [:]
    private var surprises: [String] = []

    /// Makes a call and counts it.
    func call<Value>(_ body: () async throws -> Value) async throws -> Value {
        lock.withLock { calls += 1 }
        do {
            let value = try await body()
            lock.withLock { answered += 1 }
            return value
        } catch {
            lock.withLock { answered += 1 }
            throw error
        }
    }

    /// Makes a call that is expected to fail. Returns its error, or nil if the call succeeds.
    ///
    /// - Parameter reason: The reason why the call is expected to fail.
    func failure<Value>(_ reason: String, _ body: () async throws -> Value) async -> (any Error)? {
        do {
            _ = try await call(body)
            return nil
        } catch {
            lock.withLock { failures[reason, default: 0] += 1 }
            return error
        }
    }

    /// Prints the result of one step of the tour, and records the step if the result is not as expected.
    func step(_ text: String, isRight: Bool = true) {
        print(isRight ? "✓ \(text)" : "✗ \(text)")
        if !isRight { lock.withLock { surprises.append(text) } }
    }

    /// Prints the summary. Returns whether all results and counts are as expected.
    func close(refreshes: Int, expecting expected: (calls: Int, refreshes: Int, failures: Int)) -> Bool {
        lock.withLock {
            let lost = calls - answered
            let failed = failures.values.reduce(0, +)
            print("\(calls) calls, \(lost) lost; \(refreshes) token refreshes; \(failed) expected failures:")
            for (reason, count) in failures.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
                print("    \(count) × \(reason)")
            }
            for surprise in surprises { print("not as expected: \(surprise)") }
            return surprises.isEmpty && lost == 0
                && (calls, refreshes, failed) == (expected.calls, expected.refreshes, expected.failures)
        }
    }
}
