import Foundation
import Networking

/// Records facts about each call of a round, independently of the library: the user who is logged in when the call
/// begins, the users whose tokens the call carries, and the number of times that the call ends.
final class StressLedger: RequestObserver, @unchecked Sendable {  // because of its lock
    /// The user who is logged in, or nil, and the number of log-ins and log-outs before.
    private struct Moment: Equatable {
        var user: Int?
        var changes = 0

        var name: String { user.map { "user \($0)" } ?? "nobody" }
    }

    private struct Entry {
        /// `read` is the moment at which the library read the endpoint. `begun` is a moment after the library had bound
        /// the call to a session.
        var read: Moment?
        var begun: Moment?
        var carried: Set<Int> = []
        var ends = 0
        var started = 0
        var finished = 0

        /// The user in whose session the call began, who may be nobody; nil if this is uncertain, because the user has
        /// changed meanwhile.
        var owner: Moment? { read == begun ? read : nil }
    }

    private let lock = NSLock()
    private var entries: [Int: Entry] = [:]
    private var current = Moment()
    private var lastUser = 0
    private var unfinished = 0
    private var refreshing = 0
    private var circuit = CircuitBreaker.State.closed
    private(set) var totals = StressTotals()
    private var faults: [String] = []

    var violations: [String] { lock.withLock { faults } }

    /// The user who is logged in, or nil.
    var currentUser: Int? { lock.withLock { current.user } }

    /// The number of calls that are reported as started but not as finished. The end of a task is reported after its
    /// callbacks have returned.
    var unfinishedCount: Int { lock.withLock { unfinished } }

    /// Logs a new user in, or logs the current user out.
    func change(isLoggedIn: Bool, _ assign: (Int?) -> Void) {
        lock.withLock {
            if isLoggedIn { lastUser += 1 }
            totals.logIns += isLoggedIn ? 1 : 0
            current = Moment(user: isLoggedIn ? lastUser : nil, changes: current.changes + 1)
            assign(current.user)
        }
    }

    func begin(_ call: Int) {
        lock.withLock { entries[call] = Entry() }
    }

    /// Records the current user when the library reads the endpoint of a call for the first time.
    func noteRead(_ call: Int) {
        lock.withLock { if entries[call]?.read == nil { entries[call]?.read = current } }
    }

    /// Records the end of a call. `seen` is the body of the response if the call succeeded, and nil if the call failed.
    func end(_ call: Int, as seen: String?) {
        lock.withLock {
            entries[call]?.ends += 1
            totals.answered += seen == nil ? 0 : 1
            if seen == StressBackend.refusal { faults.append("rule 13: call \(call) got a refusal as a success") }
            guard let seen, let entry = entries[call], let other = Int(seen) else { return }
            if !entry.carried.isEmpty, entry.carried != [other] {
                faults.append("call \(call) carried tokens of the users \(entry.carried), got the response for \(seen)")
            }
            // A call that has joined the transfer of another call has sent nothing.
            if let owner = entry.owner, owner.user != other {
                faults.append("rule 11: call \(call) began as \(owner.name) and got the response for user \(seen)")
            }
        }
    }

    /// Records a request that is about to be sent.
    func noteSending(_ call: Int, authorization: String?, isOpen: Bool) {
        if isOpen, authorization != nil { add("rule 10: the open call \(call) carries a token") }
        guard let token = authorization.flatMap({ StressBackend.parts(of: $0.dropFirst("Bearer ".count)) }) else {
            return
        }
        lock.withLock {
            totals.sent += 1
            entries[call]?.carried.insert(token.user)
            guard let owner = entries[call]?.owner, owner.user != token.user else { return }
            faults.append("rule 11: call \(call) began as \(owner.name) and carries a token of user \(token.user)")
        }
    }

    /// Records that the policy for duplicates has decided about a call.
    func noteDuplicate() {
        lock.withLock { totals.duplicates += 1 }
    }

    /// Records a change of the gate or of the breaker. Events arrive in order.
    func note(_ event: AdmissionEvent) {
        lock.withLock {
            switch event {
            case .gateClosed: totals.closings += 1
            case .gateOpened: break
            case .circuit(_, let state):
                if state == .open { totals.openings += 1 }
                let isPossible =
                    switch (circuit, state) {
                    case (.closed, .open), (.open, .halfOpen), (.halfOpen, .open), (.halfOpen, .closed): true
                    default: false
                    }
                if !isPossible { faults.append("the breaker was \(circuit), and then \(state)") }
                circuit = state
            }
        }
    }

    func add(_ fault: String) {
        lock.withLock { faults.append(fault) }
    }

    /// Runs a refresh, and records a violation if another refresh is in progress.
    func refresh<Value: Sendable>(_ body: () async throws -> Value) async rethrows -> Value {
        lock.withLock {
            refreshing += 1
            totals.refreshes += 1
            if refreshing > 1 { faults.append("\(refreshing) refreshes at once") }
        }
        defer { lock.withLock { refreshing -= 1 } }
        return try await body()
    }

    func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
        guard let id = (call.endpoint as? StressCall)?.id else { return }
        lock.withLock {
            switch event {
            case .started:
                entries[id]?.started += 1
                unfinished += 1
            case .attemptStarted: if entries[id]?.begun == nil { entries[id]?.begun = current }
            case .adapted(let request):
                guard request.headers[.authorization] != nil else { break }
                if entries[id]?.finished != 0 { faults.append("call \(id) is sent after its end") }
            case .finished:
                entries[id]?.finished += 1
                unfinished -= 1
            default: break
            }
        }
    }

    /// Checks the records of all calls after all calls have ended.
    func close() {
        lock.withLock {
            for (id, entry) in entries {
                if entry.ends != 1 { faults.append("call \(id) ended \(entry.ends) times") }
                if entry.started != entry.finished || entry.started > 1 {
                    faults.append("call \(id): \(entry.started) started and \(entry.finished) finished events")
                }
                if entry.carried.count > 1 { faults.append("call \(id) carried tokens of the users \(entry.carried)") }
            }
            if refreshing != 0 { faults.append("\(refreshing) refreshes have not ended") }
        }
    }
}

/// The totals of a run, which show whether it has covered enough cases.
struct StressTotals: CustomStringConvertible {
    var answered = 0
    var sent = 0
    var refreshes = 0
    var logIns = 0
    var duplicates = 0
    /// How often the gate closed, and how often the breaker opened.
    var closings = 0
    var openings = 0

    var description: String {
        "\(answered.grouped) succeeded, \(sent.grouped) requests with a token, "
            + "\(refreshes.grouped) refreshes, \(logIns.grouped) log-ins, \(duplicates.grouped) duplicates, "
            + "\(closings.grouped) closings of the gate, \(openings.grouped) openings of the breaker"
    }

    /// What a run has not covered.
    func missing(of calls: Int) -> [String] {
        let least = [
            ("succeeded", answered, calls / 10), ("refreshes", refreshes, calls / 2_000 + 1),
            ("duplicates", duplicates, calls / 200 + 1),
            ("closings of the gate", closings, calls / 10_000 + 1),
            ("openings of the breaker", openings, calls / 20_000 + 1),
        ]
        return least.filter { $0.1 < $0.2 }.map { "\($0.0): \($0.1), expected at least \($0.2)" }
    }

    static func += (totals: inout StressTotals, other: StressTotals) {
        totals.answered += other.answered
        totals.sent += other.sent
        totals.refreshes += other.refreshes
        totals.logIns += other.logIns
        totals.duplicates += other.duplicates
        totals.closings += other.closings
        totals.openings += other.openings
    }
}

/// An endpoint whose request carries the id of the call as an option. The option is not sent, and does not affect
/// duplicates. The endpoint records when the library reads it.
struct StressCall: Endpoint {
    /// The id of the call of a request; nil for the request of a refresh.
    enum ID: HTTPRequest.Option {
        static let defaultValue: Int? = nil
    }

    let id: Int
    let item: Int
    let method: HTTPMethod
    let priority: Int
    /// Whether the call needs no token.
    let isOpen: Bool
    let ledger: StressLedger

    var path: EndpointPath { isOpen ? "open/\(item)" : "items/\(item)" }

    var settings: RequestSettings {
        RequestSettings {
            $0.options[ID.self] = id
            $0.priority = HTTPRequest.Priority(priority)
        }
    }

    var authorizationType: AuthorizationType {
        ledger.noteRead(id)
        return isOpen ? .none : .bearer
    }
}
