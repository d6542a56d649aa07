#if os(Linux)
    import Foundation

    /// The durations of calls.
    struct Latencies: Sendable {
        private var microseconds: [Float] = []

        /// The time of the system's monotonic clock, in nanoseconds.
        static func now() -> UInt64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }

        mutating func add(since start: UInt64) {
            microseconds.append(Float(Latencies.now() - start) / 1_000)
        }

        mutating func add(_ other: Latencies) {
            microseconds += other.microseconds
        }

        /// Returns the duration in microseconds that the given share of the calls did not exceed; NaN without calls.
        func percentile(_ share: Double) -> Double {
            guard !microseconds.isEmpty else { return .nan }
            let sorted = microseconds.sorted()
            return Double(sorted[min(Int(Double(sorted.count) * share), sorted.count - 1)])
        }
    }
#endif
