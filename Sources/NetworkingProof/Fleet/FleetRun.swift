import Foundation
import Networking
import NetworkingTesting

/// A run of one scenario with one policy on a virtual clock, in steps of 20 ms. Each client makes three calls at once
/// every ten seconds. A response takes 60 ms.
///
/// The library makes all decisions of a client, with the values in ``FleetClients`` and the retry policy.
struct FleetRun {
    static let stepsPerSecond = 50
    static let latency = 3
    static let period = 10
    static let callsAtOnce = 3
    /// The time in seconds after the run within which the last calls must end. No new calls begin in this time.
    static let longestEnd = 300

    let scenario: FleetScenario
    let policy: FleetPolicy
    /// For each outcome, whether the policy retries the request.
    let retried: [Bool]
    let circuitOutcomes = FleetAttempt.Outcome.allCases.map(\.circuitOutcome)
    let reconnection = ServerSentEvent.Reconnection(statuses: [.serviceUnavailable])
    let random: RandomSource
    var clients: FleetClients
    var server: FleetServer
    var outcome: FleetOutcome
    var step = 0
    /// The time since the beginning of the run.
    var now = Duration.zero
    var date = FleetClients.start
    /// The requests in progress, by the step in which the response arrives.
    private var sent = Array(repeating: [FleetAttempt](), count: FleetRun.latency + 1)
    /// The requests that wait for a retry or for an admission, by the step in which the wait ends.
    private var due: [[FleetAttempt]]

    init(_ scenario: FleetScenario, _ policy: FleetPolicy, clients count: Int, seed: UInt64) async {
        self.scenario = scenario
        self.policy = policy
        retried = await policy.retriedOutcomes()
        random = RandomSource(SeededGenerator(seed: seed))
        clients = FleetClients(count, with: policy, in: scenario)
        let normal = max(count * FleetRun.callsAtOnce / FleetRun.period, 1)
        server = FleetServer(scenario, normal: normal)
        outcome = FleetOutcome(scenario: scenario.name, policy: policy.name, clients: count, normal: normal)
        due = Array(repeating: [], count: (scenario.length + FleetRun.longestEnd) * FleetRun.stepsPerSecond)
        outcome.opened = Array(repeating: 0, count: scenario.length + FleetRun.longestEnd)
        outcome.closedStreams = scenario.fault == .deployment ? count : 0
    }

    mutating func run() -> FleetOutcome {
        for step in due.indices {
            let isOver = step >= scenario.length * FleetRun.stepsPerSecond
            if isOver, outcome.ended == outcome.calls { break }
            self.step = step
            now = .milliseconds(step * 1_000 / FleetRun.stepsPerSecond)
            date = FleetClients.start.addingTimeInterval(now / .seconds(1))
            if step % FleetRun.stepsPerSecond == 0 { server.begin(second: step / FleetRun.stepsPerSecond) }
            if scenario.fault == .deployment, step == scenario.seconds.lowerBound * FleetRun.stepsPerSecond { cut() }
            receiveResponses()
            let waiting = due[step]
            due[step] = []
            for attempt in waiting { send(attempt) }
            guard !isOver else { continue }
            beginCalls()
            noteService()
        }
        outcome.load = server.load
        return outcome
    }

    /// Sends an attempt after a wait. If the wait is longer than any that the policy may ask for, the call never ends.
    mutating func schedule(_ attempt: FleetAttempt, after wait: Duration) {
        guard wait > .zero else { return send(attempt) }
        let steps = max(Int((wait / .milliseconds(1_000 / FleetRun.stepsPerSecond)).rounded(.up)), 1)
        if step + steps < due.count { due[step + steps].append(attempt) }
    }

    /// Sends a request to the server. Its response arrives after the latency.
    mutating func transmit(_ attempt: FleetAttempt) {
        var attempt = attempt
        let isOld = scenario.fault == .expiry && clients.hasOldToken(Int(attempt.client))
        server.answer(&attempt, carryingOld: isOld)
        sent[(step + FleetRun.latency) % sent.count].append(attempt)
    }

    private mutating func receiveResponses() {
        let slot = step % sent.count
        let responses = sent[slot]
        sent[slot] = []
        for response in responses { receive(response) }
    }

    /// Begins the calls that are due in this step. The clients are spread evenly over the period.
    private mutating func beginCalls() {
        let steps = FleetRun.period * FleetRun.stepsPerSecond
        let position = step % steps
        for client in (position * clients.count / steps)..<((position + 1) * clients.count / steps) {
            for _ in 0..<FleetRun.callsAtOnce {
                outcome.calls += 1
                send(FleetAttempt(client: client))
            }
        }
    }

    /// Cuts all connections: the requests in progress are lost, and all event streams end.
    private mutating func cut() {
        for slot in sent.indices {
            for index in sent[slot].indices { sent[slot][index].outcome = .lost }
        }
        for client in 0..<clients.count { reconnect(FleetAttempt(client: client, kind: .stream)) }
    }

    private mutating func noteService() {
        guard outcome.secondsToServeAll == nil, clients.unserved == 0 else { return }
        guard outcome.closedStreams <= outcome.endedStreams else { return }
        outcome.secondsToServeAll =
            Double(step - scenario.restored * FleetRun.stepsPerSecond) / Double(FleetRun.stepsPerSecond)
    }
}
