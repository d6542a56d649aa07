import Foundation
import Networking

/// What calls wait for: how many other calls have waited longer for a permit, and how long the pause of a host still
/// lasts.
struct InspectorQueues: Sendable {
    private var places: [Int: Int] = [:]
    private var gates: [BackoffGate] = []

    init() {}

    /// - Parameter waiting: The calls that wait.
    init(_ waiting: [InspectorCall], _ gates: [BackoffGate]) {
        self.gates = gates
        var counts: [String?: Int] = [:]
        let queued = waiting.compactMap { call -> (ContinuousClock.Instant, InspectorCall)? in
            guard case .admission("ConcurrencyLimit")? = call.currentWait else { return nil }
            return call.moments.last.map { ($0.time, call) }
        }
        for (_, call) in queued.sorted(by: { $0.0 < $1.0 }) {
            let host = call.lastRequest?.url.host
            places[call.number] = counts[host, default: 0]
            counts[host, default: 0] += 1
        }
    }

    /// Returns why a call waits.
    func reason(_ wait: RequestWait, of call: InspectorCall) -> String {
        let words = InspectorText.wait(wait)
        if case .admission("BackoffGate") = wait {
            let origin = call.lastRequest.flatMap { HTTPOrigin($0.url) }
            let pause = origin.flatMap { origin in gates.compactMap { $0.wait(for: origin) }.max() }
            return pause.map { "\(words), \(InspectorText.seconds($0)) left" } ?? words
        }
        let before = places[call.number] ?? 0
        return before == 0 ? words : "\(words); \(before) for the same host have waited longer"
    }
}
