#if os(Linux)
    import Foundation
    import Networking
    import NetworkingInspector

    /// Measures the cost of observers, and the cost of the support for observers in a call without an observer.
    struct ObserversBenchmark: Benchmark {
        let name = "observers"
        let explanation =
            "the pipeline over a stub that responds at once: no observer, a removed observer, "
            + "an idle observer, a log and a HAR file, an inspector."

        /// An observer that ignores every event.
        private struct Idler: RequestObserver {
            func observe(_ event: RequestEvent, of call: RequestEvent.Call) {}
        }

        func run(_ report: Report, isQuick: Bool) async throws {
            guard let url = URL(string: "http://127.0.0.1:1/") else { return }
            func subject() -> PipelineSubject { PipelineSubject(url, on: InstantTransport()) }
            let (left, idle, busy, shown) = (subject(), subject(), subject(), subject())
            left.service.observers.register(Idler()).cancel()
            let log = LogObserver { line in _ = line.message.utf8.count }
            let tokens = [
                idle.service.observers.register(Idler()), busy.service.observers.register(log),
                busy.service.observers.register(HARRecorder()),
                shown.service.observers.register(try NetworkInspector()),
            ]
            let subjects = [
                ("no observer", subject()), ("removed observer", left), ("idle observer", idle), ("log and HAR", busy),
                ("inspector", shown),
            ]
            let taken = try await PipelineSubject.compare(subjects.map(\.1), isQuick: isQuick)
            for (index, subject) in subjects.enumerated() {
                report.add(
                    Row(
                        subject: subject.0, concurrency: 1, cpuMicrosecondsPerCall: taken[index].time,
                        note: String(format: "%+.2f µs", taken[index].more)))
            }
            addParts(report, calls: isQuick ? 40_000 : 400_000)
            for token in tokens { token.cancel() }
        }

        /// Measures the cost of the support for observers in a call without an observer: the check whether there is an
        /// observer, and the reads of the clock for the report of the call.
        private func addParts(_ report: Report, calls: Int) {
            let observers = RequestObservers()
            let question = ContinuousClock().measure {
                for _ in 0..<calls { precondition(observers.isEmpty) }
            }
            let reporting = ContinuousClock().measure {
                for _ in 0..<calls { precondition(times(NetworkClock.continuous) > .zero) }
            }
            for (subject, taken) in [("observer check", question), ("report times", reporting)] {
                report.add(
                    Row(
                        subject: subject, concurrency: 1,
                        cpuMicrosecondsPerCall: taken / .microseconds(1) / Double(calls),
                        note: String(format: "%.3f µs", taken / .microseconds(1) / Double(calls))))
            }
        }

        /// Reads the clock as a call does: for the date, the start, the handover to the transport, and the end.
        @inline(never)
        private func times(_ clock: NetworkClock) -> Duration {
            let (date, start, sent, end) = (clock.date(), clock.now(), clock.now(), clock.now())
            return date.timeIntervalSince1970 > 0 ? end - start + (sent - start) : .zero
        }
    }
#endif
