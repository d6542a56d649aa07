/// The server of a fleet. It counts the requests in each second, and responds with 503 to requests above its capacity.
struct FleetServer {
    private let scenario: FleetScenario
    /// The number of requests that the server can process in a second.
    private let capacity: Int
    private var processed = 0
    private var second = 0
    /// The number of requests in each second.
    private(set) var load: [Int]

    init(_ scenario: FleetScenario, normal: Int) {
        self.scenario = scenario
        capacity = normal * 2
        load = Array(repeating: 0, count: scenario.length)
    }

    /// Whether the server refuses the tokens that were issued before the run.
    var refusesOldTokens: Bool { scenario.fault == .expiry && second >= scenario.seconds.lowerBound }

    mutating func begin(second: Int) {
        self.second = second
        processed = 0
    }

    /// Sets the outcome of an attempt.
    ///
    /// - Parameter isOld: Whether the request carries a token that was issued before the run.
    mutating func answer(_ attempt: inout FleetAttempt, carryingOld isOld: Bool) {
        if second < load.count { load[second] += 1 }
        attempt.asked = 0
        if scenario.seconds.contains(second) {
            switch scenario.fault {
            case .outage:
                attempt.outcome = .unavailable
                return
            case .deployment:
                attempt.outcome = .refused
                return
            case .expiry: break
            case .retryAfter:
                attempt.outcome = .unavailable
                attempt.asked = UInt16(scenario.seconds.upperBound - second)
                return
            }
        }
        guard processed < capacity else {
            attempt.outcome = .unavailable
            return
        }
        processed += 1
        attempt.outcome = isOld && refusesOldTokens && attempt.kind == .call ? .unauthorized : .ok
    }
}
