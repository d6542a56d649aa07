import Foundation
import Networking

/// The clients of a fleet. For each part of its policy, each client has its own value of a type of the library.
struct FleetClients {
    let count: Int
    var budgets: [RetryPolicy.Budget] = []
    var gates: [GateMachine] = []
    var circuits: [CircuitMachine] = []
    var sessions: [AccessTokenMachine] = []
    /// The refreshes in progress.
    var jobs: [UInt32: AccessTokenMachine.Job] = [:]
    /// Whether a client without a session has a new token.
    var hasNewToken: [Bool] = []
    /// Whether a client has received a response since the server began to work again.
    private(set) var isServed: [Bool]
    /// The number of clients that have received no response since the server began to work again.
    private(set) var unserved: Int

    static let session = UUID()
    /// The date at the beginning of a run.
    static let start = Date(timeIntervalSince1970: 1_700_000_000)

    init(_ count: Int, with policy: FleetPolicy, in scenario: FleetScenario) {
        self.count = count
        isServed = Array(repeating: false, count: count)
        unserved = count
        if policy.hasBudget { budgets = (0..<count).map { _ in RetryPolicy.Budget() } }
        if policy.hasGate { gates = Array(repeating: GateMachine(), count: count) }
        if let breaker = policy.breaker { circuits = Array(repeating: CircuitMachine(breaker), count: count) }
        guard scenario.fault == .expiry else { return }
        guard policy.session != .none else {
            hasNewToken = Array(repeating: false, count: count)
            return
        }
        let end = FleetClients.start.addingTimeInterval(Double(scenario.seconds.lowerBound))
        let token = AccessToken("old", expiresAt: policy.session == .expiring ? end : nil)
        let machine = AccessTokenMachine(
            token: token, session: FleetClients.session, at: end.addingTimeInterval(-3_600))
        sessions = Array(repeating: machine, count: count)
    }

    mutating func serve(_ client: Int) {
        guard !isServed[client] else { return }
        isServed[client] = true
        unserved -= 1
    }

    /// Returns whether the client's current token was issued before the run.
    func hasOldToken(_ client: Int) -> Bool {
        if !hasNewToken.isEmpty { return !hasNewToken[client] }
        return !sessions.isEmpty && sessions[client].token?.value == "old"
    }
}
