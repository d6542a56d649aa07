#if os(Linux)
    import Foundation

    /// The cost of a piece of work: wall-clock time and processor time of this process, in seconds.
    struct Measurement {
        var calls: Int
        var wall: Double
        var processor: Double

        var microsecondsPerCall: Double { processor / Double(calls) * 1_000_000 }
        var callsPerSecond: Double { Double(calls) / wall }

        /// Measures `body`, which returns the number of calls it has made.
        static func of(_ body: () async throws -> Int) async rethrows -> Measurement {
            let processor = processorTime
            let start = ContinuousClock.now
            let calls = try await body()
            let wall = (ContinuousClock.now - start) / .seconds(1)
            return Measurement(calls: calls, wall: wall, processor: processorTime - processor)
        }

        /// Measures work that does not wait.
        static func ofWork(_ body: () -> Int) -> Measurement {
            let processor = processorTime
            let start = ContinuousClock.now
            let calls = body()
            let wall = (ContinuousClock.now - start) / .seconds(1)
            return Measurement(calls: calls, wall: wall, processor: processorTime - processor)
        }

        /// The processor time that this process has used in user mode and in the kernel, in seconds.
        static var processorTime: Double {
            var usage = rusage()
            getrusage(RUSAGE_SELF.rawValue, &usage)
            return seconds(usage.ru_utime) + seconds(usage.ru_stime)
        }

        /// Measures a loop that does the same work each time. The time of the loop shows the speed of the virtual
        /// machine, so that the results of two runs can be compared although this speed changes.
        ///
        /// - Returns: The processor time of the loop in milliseconds.
        static func referenceTime() -> Double {
            var state: UInt64 = 1
            let measurement = ofWork {
                for _ in 0..<2_000_000 { state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407 }
                return 1
            }
            return state == 0 ? 0 : measurement.processor * 1_000
        }

        /// The resident memory of this process in KiB.
        static var residentKiB: Int {
            let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
            return (pages.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0) * Int(getpagesize()) / 1_024
        }

        private static func seconds(_ time: timeval) -> Double {
            Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
        }
    }

    extension Sequence where Element == Double {
        var median: Double {
            let sorted = sorted()
            return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
        }
    }
#endif
