#if os(Linux)
    import Foundation

    /// One row of a benchmark's result.
    struct Row: Encodable {
        var benchmark = ""
        var subject: String
        var concurrency: Int?
        var cpuMicrosecondsPerCall: Double?
        var callsPerSecond: Double?
        /// The median and the 99th percentile of the durations of the calls, in microseconds.
        var p50: Double?
        var p99: Double?
        var wall: Double?
        var residentGrowthKiB: Int?
        /// Further results in words.
        var note = ""

        private enum CodingKeys: String, CodingKey {
            case benchmark, subject, concurrency, p50, p99, note
            case cpuMicrosecondsPerCall = "cpu_us_per_call"
            case callsPerSecond = "calls_per_second"
            case wall = "wall_s"
            case residentGrowthKiB = "rss_growth_kib"
        }
    }

    /// Prints rows as a table or as JSON.
    final class Report: @unchecked Sendable {  // because only one benchmark runs at a time, and adds rows from one task
        private let isJSON: Bool
        private var name = ""

        init(isJSON: Bool) {
            self.isJSON = isJSON
        }

        func begin(_ benchmark: any Benchmark) {
            name = benchmark.name
            guard !isJSON else { return }
            print("\n\(benchmark.name): \(benchmark.explanation)")
            print(line("subject", "at once", "cpu µs/call", "calls/s", "p50 µs", "p99 µs", "wall s", "RSS KiB", ""))
        }

        func add(_ row: Row) {
            var row = row
            row.benchmark = name
            if isJSON {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                print((try? encoder.encode(row)).map { String(decoding: $0, as: UTF8.self) } ?? "{}")
            } else {
                print(
                    line(
                        row.subject, row.concurrency.map(String.init) ?? "", number(row.cpuMicrosecondsPerCall, 1),
                        number(row.callsPerSecond, 0), number(row.p50, 0), number(row.p99, 0), number(row.wall, 3),
                        row.residentGrowthKiB.map(String.init) ?? "",
                        row.note))
            }
        }

        /// Prints a sentence below the table. Prints nothing if the output is JSON.
        func say(_ text: String) {
            if !isJSON { print("  \(text)") }
        }

        private func number(_ value: Double?, _ digits: Int) -> String {
            value.map { String(format: "%.\(digits)f", $0) } ?? ""
        }

        private func line(_ first: String, _ rest: String...) -> String {
            let columns = rest.dropLast().map { String(repeating: " ", count: max(0, 12 - $0.count)) + $0 }
            let name = first + String(repeating: " ", count: max(0, 26 - first.count))
            return "  " + ([name] + columns).joined() + "  " + (rest.last ?? "")
        }
    }
#endif
