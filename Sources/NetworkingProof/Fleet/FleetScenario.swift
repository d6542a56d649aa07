/// A fault of the server of a fleet, and the limits that the whole policy must not exceed.
struct FleetScenario: Sendable {
    enum Fault: Sendable {
        /// Every response is 503.
        case outage
        /// Every response is 503, with the time until the end of the fault in `Retry-After`.
        case retryAfter
        /// The server refuses every token that was issued before the run.
        case expiry
        /// Every connection is cut, and the server refuses connections.
        case deployment
    }

    /// The limits for the whole policy, slightly above the measured values. Loads are multiples of the normal load.
    struct Limits: Sendable {
        /// The mean load during the fault.
        var mean: Double
        /// The highest load in one second after the fault.
        var peak: Double
        /// The seconds after the fault within which every client must have received a response.
        var seconds: Int
        /// The number of requests, as a multiple of the number of calls.
        var requests: Double
        /// The largest share of the event streams that may open in one second after the fault.
        var streams = 1.0
    }

    let name: String
    let fault: Fault
    /// The seconds of the fault.
    let seconds: Range<Int>
    /// The length of the run in seconds.
    let length: Int
    let policies: [FleetPolicy]
    let limits: Limits
    /// The load that at least one run without the whole policy must reach. If no run reaches it, the scenario does not
    /// show what the policy prevents.
    let contrast: Double

    /// Whether the limits apply to a policy. In an outage, they also apply to each policy with a budget: a breaker must
    /// not hide that the budget does not work.
    func isChecked(_ policy: FleetPolicy) -> Bool { policy.isWhole || fault == .outage && policy.hasBudget }

    /// Returns the limits for a policy. If the tokens say when they expire, each client sends only its calls and one
    /// refresh.
    func limits(for policy: FleetPolicy) -> Limits {
        if policy.session == .expiring { return Limits(mean: 1.1, peak: 1.1, seconds: 11, requests: 1.1) }
        var limits = limits
        // The calls that have waited for a pause leave within the length of this pause, in addition to the new calls.
        if policy.gateSpread == 1 { limits.peak = min(limits.peak, 3) }
        return limits
    }

    /// The second from which the server works again.
    var restored: Int { fault == .expiry ? seconds.lowerBound : seconds.upperBound }

    static let all = [
        FleetScenario(
            name: "outage", fault: .outage, seconds: 20..<80, length: 150, policies: FleetPolicy.ladder,
            limits: Limits(mean: 1.25, peak: 1.1, seconds: 45, requests: 1.1), contrast: 3.5),
        FleetScenario(
            name: "retry-after", fault: .retryAfter, seconds: 20..<50, length: 110, policies: FleetPolicy.ladder,
            limits: Limits(mean: 0.4, peak: 30, seconds: 45, requests: 1.15), contrast: 3.5),
        FleetScenario(
            name: "tokens", fault: .expiry, seconds: 40..<50, length: 70, policies: FleetPolicy.sessions,
            limits: Limits(mean: 2.6, peak: 2.7, seconds: 21, requests: 1.3), contrast: 2.3),
        FleetScenario(
            name: "deployment", fault: .deployment, seconds: 20..<25, length: 80, policies: FleetPolicy.ladder,
            limits: Limits(mean: 3.9, peak: 3.6, seconds: 45, requests: 1.3), contrast: 3.5),
        FleetScenario(
            name: "streams", fault: .deployment, seconds: 20..<80, length: 160, policies: FleetPolicy.streams,
            limits: Limits(mean: 1.6, peak: 1.5, seconds: 60, requests: 1.4, streams: 0.05), contrast: 3.5),
    ]
}
