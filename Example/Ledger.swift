import Foundation

/// Keeps count of the tour's calls, and of whether each went as it must.
final class Ledger: @unchecked Sendable {  // because of the lock around every variable
    private let lock = NSLock()
    private var calls = 0
    private var answered = 0
    /// How often calls have failed as they had to, by why they had to.
    private var failures: [String: Int] = [:]
    private var surprises: [String] = []

    /// Makes a call, counted.
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

    /// Makes a call that has to fail, and gives its error.
    ///
    /// - Parameter reason: Why it has to fail.
    func failure<Value>(_ reason: String, _ body: () async throws -> Value) async -> (any Error)? {
        do {
            _ = try await call(body)
            return nil
        } catch {
            lock.withLock { failures[reason, default: 0] += 1 }
            return error
        }
    }

    /// One line of the tour.
    func step(_ text: String, isRight: Bool = true) {
        print(isRight ? "✓ \(text)" : "✗ \(text)")
        if !isRight { lock.withLock { surprises.append(text) } }
    }

    /// The closing lines, and whether the figures are what they must be.
    func close(refreshes: Int, expecting expected: (calls: Int, refreshes: Int, failures: Int)) -> Bool {
        lock.withLock {
            let lost = calls - answered
            let failed = failures.values.reduce(0, +)
            print("\(calls) calls, \(lost) lost; \(refreshes) token refreshes; \(failed) failures, as expected:")
            for (reason, count) in failures.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
                print("    \(count) × \(reason)")
            }
            for surprise in surprises { print("not as expected: \(surprise)") }
            return surprises.isEmpty && lost == 0
                && (calls, refreshes, failed) == (expected.calls, expected.refreshes, expected.failures)
        }
    }
}
