#if os(Linux)
    import Foundation

    /// A comparison of several subjects that take turns, so that a change of the machine's speed affects all of them.
    struct Comparison {
        struct Subject {
            let name: String
            /// The calls of this subject in a round, as a fraction of the base number. Slow subjects make fewer calls.
            var share = 1.0
            let run: (_ calls: Int) async throws -> Latencies
        }

        /// The measurements of one subject in all rounds but the first.
        struct Result {
            let name: String
            var rounds: [Measurement] = []
            var latencies = Latencies()

            var processor: Double { rounds.map(\.microsecondsPerCall).median }
            var rate: Double { rounds.map(\.callsPerSecond).median }

            /// Returns the ratios to another subject.
            func ratios(to other: Result) -> String {
                String(
                    format: "relative to \(other.name): cpu %.2f, calls %.2f, p99 %.2f", processor / other.processor,
                    rate / other.rate, latencies.percentile(0.99) / other.latencies.percentile(0.99))
            }

            func row(_ concurrency: Int, note: String) -> Row {
                Row(
                    subject: name, concurrency: concurrency, cpuMicrosecondsPerCall: processor, callsPerSecond: rate,
                    p50: latencies.percentile(0.5), p99: latencies.percentile(0.99), note: note)
            }
        }

        let concurrency: Int
        private(set) var results: [Result]
        /// The calls of all subjects in all rounds.
        private(set) var calls = 0
        /// The times of the reference loop before each round.
        private(set) var speeds: [Double] = []

        /// - Parameter base: The number of calls of a subject in a round. The first round warms up.
        init(_ subjects: [Subject], concurrency: Int, base: Int, rounds: Int) async throws {
            self.concurrency = concurrency
            results = subjects.map { Result(name: $0.name) }
            for round in 0..<rounds {
                speeds.append(Measurement.referenceTime())
                for (index, subject) in subjects.enumerated() {
                    let share = max(Int(Double(base) * subject.share), concurrency)
                    var latencies = Latencies()
                    let measurement = try await Measurement.of {
                        latencies = try await subject.run(share)
                        return share
                    }
                    calls += share
                    guard round > 0 else { continue }
                    results[index].rounds.append(measurement)
                    results[index].latencies.add(latencies)
                }
            }
        }

        /// Adds a row for each subject, with its ratios to the last one.
        func add(to report: Report) {
            guard let base = results.last else { return }
            for result in results { report.add(result.row(concurrency, note: result.ratios(to: base))) }
        }
    }
#endif
