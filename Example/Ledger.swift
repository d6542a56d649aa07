import Foundation

/// Keeps count of the tour's calls, and of whether each went as it must.
final class Ledger: @unchecked Sendable {  // because of the lock around every variable
    private let lock = NSLock()
    private var calls = 0
    private var answered = 0
    private var failures = 0
    private var surprises: [String] = []

    /// Makes a call, counted.
    func call<Value>(_ body: () async throws -> Value) async throws -> Value {
        lock.withLock { calls += 1 }
        do {
            let value = try await body()
            lock.withLock { answered += 1 }
            return value
        } catch {
            lock.withLock {
                answered += 1
                failures += 1
            }
            throw error
        }
    }

    /// Makes a call that has to fail, and gives its error.
    func failure<Value>(_ body: () async throws -> Value) async -> (any Error)? {
        do {
            _ = try await call(body)
            return nil
        } catch {
            return error
        }
    }

    /// One line of the tour.
    func step(_ text: String, isRight: Bool = true) {
        print(isRight ? "✓ \(text)" : "✗ \(text)")
        if !isRight { lock.withLock { surprises.append(text) } }
    }

    /// The closing line, and whether the figures are what they must be.
    func close(refreshes: Int, expecting expected: (calls: Int, refreshes: Int, failures: Int)) -> Bool {
        lock.withLock {
            let lost = calls - answered
            print(
                "summary: calls=\(calls) answered=\(answered) refreshes=\(refreshes) failures=\(failures) lost=\(lost)")
            return surprises.isEmpty && lost == 0
                && (calls, refreshes, failures) == (expected.calls, expected.refreshes, expected.failures)
        }
    }
}
