import Foundation

extension ConcurrencyLimit: InspectablePart {
    /// The permits in use, and the requests that wait for a permit.
    public func facts() async -> [(name: String, value: String)] {
        [
            ("requests in progress", "\(activeCount)"), ("requests that wait", "\(waiterCount)"),
            ("maximum for each host", "\(limit)"), ("maximum in total", total.map { "\($0)" } ?? "no limit"),
        ]
    }
}

extension BackoffGate: InspectablePart {
    /// The hosts that have asked for a pause.
    public func facts() async -> [(name: String, value: String)] {
        let pauses = origins.compactMap { origin in wait(for: origin).map { (origin, $0) } }
        guard !pauses.isEmpty else { return [("pauses", "none")] }
        return pauses.map { ("\($0.0)", "\($0.1.shortText) left") }
    }
}

extension CircuitBreaker: InspectablePart {
    /// The state of each host that has failed.
    public func facts() async -> [(name: String, value: String)] {
        let states = origins.map { (name: "\($0)", value: "\(state(of: $0))") }
        return states.isEmpty ? [("circuits", "all closed")] : states
    }
}
