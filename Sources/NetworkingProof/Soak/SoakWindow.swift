#if os(Linux)
    import Foundation

    /// The measurements of one period: the lowest and the highest use of resources, and the latencies.
    struct SoakWindow: Encodable, Sendable {
        let check = "soak"
        /// The second at which the window ended.
        var second = 0
        /// The resident memory at the end of the window, when no call is in progress.
        var residentKiB = 0
        var descriptors = Int.max
        var mostDescriptors = 0
        var threads = Int.max
        var mostThreads = 0
        var calls = 0
        var p50Microseconds = 0
        var p99Microseconds = 0

        mutating func add(_ sample: SoakSample) {
            descriptors = min(descriptors, sample.descriptors)
            mostDescriptors = max(mostDescriptors, sample.descriptors)
            threads = min(threads, sample.threads)
            mostThreads = max(mostThreads, sample.threads)
        }

        mutating func end(at second: Int, _ latencies: SoakLatencies) {
            self.second = second
            calls = latencies.calls
            p50Microseconds = latencies.percentile(0.5)
            p99Microseconds = latencies.percentile(0.99)
        }

        /// Returns the window as a line of the table, with a bar for its resident memory.
        ///
        /// - Parameter most: The highest resident memory of all windows.
        func line(most: Int) -> String {
            let bar = String(repeating: "#", count: 40 * residentKiB / max(most, 1))
            return column("\(second) s", 7) + column(mebibytes(residentKiB), 11)
                + column("\(descriptors)-\(mostDescriptors)", 10) + column("\(threads)-\(mostThreads)", 9)
                + column(calls.grouped, 11) + column("\(p50Microseconds)", 8) + column("\(p99Microseconds)", 9)
                + "  " + bar
        }

        static let titles = "      s   resident     files  threads      calls  p50 µs   p99 µs  resident"

        private func mebibytes(_ kibibytes: Int) -> String { "\((Double(kibibytes) / 1_024).times) MiB" }

        private func column(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(width - text.count, 0)) + text
        }
    }
#endif
