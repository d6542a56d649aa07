import Foundation

/// A histogram of the latencies, in constant memory. Each class spans an eighth of a power of two: its upper bound is
/// about 9 % above its lower bound.
struct SoakLatencies: Sendable {
    private var counts = Array(repeating: 0, count: 256)
    private(set) var timed = 0
    /// The number of all calls, including the calls whose latency does not count.
    private(set) var calls = 0

    /// - Parameter latency: Nil if the latency of the call does not count.
    mutating func add(_ latency: Duration?) {
        calls += 1
        guard let latency else { return }
        let microseconds = max(latency / .microseconds(1), 1)
        counts[min(Int(log2(microseconds) * 8), counts.count - 1)] += 1
        timed += 1
    }

    /// Returns the latency in microseconds that this share of the calls did not exceed.
    func percentile(_ share: Double) -> Int {
        var left = Int((Double(timed) * share).rounded(.up))
        for (number, count) in counts.enumerated() {
            left -= count
            if left <= 0 { return timed == 0 ? 0 : Int(exp2(Double(number + 1) / 8)) }
        }
        return 0
    }
}

/// The measurements of the workers of a soak test since the end of the last window.
final class SoakLedger: @unchecked Sendable {  // because of the lock around every variable
    private let lock = NSLock()
    private var latencies = SoakLatencies()
    private var faults: [String] = []
    private var isOver = false

    var violations: [String] { lock.withLock { faults } }
    var isEnded: Bool { lock.withLock { isOver || faults.count >= 20 } }

    func add(_ latency: Duration?) { lock.withLock { latencies.add(latency) } }
    func add(_ violation: String) { lock.withLock { faults.append(violation) } }
    func end() { lock.withLock { isOver = true } }

    /// Returns the latencies, and removes them.
    func take() -> SoakLatencies {
        lock.withLock {
            defer { latencies = SoakLatencies() }
            return latencies
        }
    }
}
