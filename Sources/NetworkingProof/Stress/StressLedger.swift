import Foundation
import Networking

/// What is known of each call of a round, beside the library: who was logged in when it began, whose tokens it carried,
/// and how often it ended.
final class StressLedger: RequestObserver, @unchecked Sendable {  // because of the lock around every variable
    private struct Entry {
        /// The user when the library read the endpoint, and when it had bound the call to a session.
        var read: Int??
        var begun: Int??
        var carried: Set<Int> = []
        var ends = 0
        var started = 0
        var finished = 0
    }

    private let lock = NSLock()
    private var entries: [Int: Entry] = [:]
    private var user: Int?
    private var lastUser = 0
    private var unfinished = 0
    private var refreshing = 0
    private(set) var totals = StressTotals()
    private var faults: [String] = []

    var violations: [String] { lock.withLock { faults } }

    /// Who is logged in.
    var currentUser: Int? { lock.withLock { user } }

    /// How many calls are reported as begun, and not as ended: those of tasks are, after their callbacks have returned.
    var unfinishedCount: Int { lock.withLock { unfinished } }

    /// Logs another user in, or nobody.
    func change(isLoggedIn: Bool, _ assign: (Int?) -> Void) {
        lock.withLock {
            if isLoggedIn { lastUser += 1 }
            totals.logIns += isLoggedIn ? 1 : 0
            user = isLoggedIn ? lastUser : nil
            assign(user)
        }
    }

    func begin(_ call: Int) {
        lock.withLock { entries[call] = Entry() }
    }

    /// The library reads the endpoint of a call.
    func noteRead(_ call: Int) {
        lock.withLock { if entries[call]?.read == nil { entries[call]?.read = user } }
    }

    /// The call has ended, with the user that the server has seen if it succeeded.
    func end(_ call: Int, as seen: String?) {
        lock.withLock {
            entries[call]?.ends += 1
            totals.answered += seen == nil ? 0 : 1
            if let seen, let carried = entries[call]?.carried, !carried.isEmpty, carried != [Int(seen) ?? -1] {
                faults.append("call \(call) carried tokens of \(carried) and got the answer of \(seen)")
            }
        }
    }

    /// A request is about to be sent.
    func noteSending(_ call: Int, authorization: String?, isOpen: Bool) {
        if isOpen, authorization != nil { add("rule 10: the open call \(call) carries a token") }
        guard let token = authorization.flatMap({ StressBackend.parts(of: $0.dropFirst("Bearer ".count)) }) else {
            return
        }
        lock.withLock {
            totals.sent += 1
            entries[call]?.carried.insert(token.user)
            guard let entry = entries[call], case .some(.some(let read)) = entry.read,
                case .some(.some(let begun)) = entry.begun, read == begun, read != token.user
            else { return }
            faults.append("call \(call) began as \(read) and carries a token of \(token.user)")
        }
    }

    func add(_ fault: String) {
        lock.withLock { faults.append(fault) }
    }

    /// A refresh runs.
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
            case .attemptStarted: if entries[id]?.begun == nil { entries[id]?.begun = user }
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

    /// Looks at all calls when nothing runs any more.
    func close() {
        lock.withLock {
            for (id, entry) in entries {
                if entry.ends != 1 { faults.append("call \(id) ended \(entry.ends) times") }
                if entry.started != entry.finished || entry.started > 1 {
                    faults.append("call \(id) was reported as begun \(entry.started), as ended \(entry.finished) times")
                }
                if entry.carried.count > 1 { faults.append("call \(id) carried tokens of the users \(entry.carried)") }
            }
            if refreshing != 0 { faults.append("\(refreshing) refreshes are left") }
        }
    }
}

/// How much of what has happened, which shows that a run has been hostile enough.
struct StressTotals: CustomStringConvertible {
    var answered = 0
    var sent = 0
    var refreshes = 0
    var logIns = 0

    var description: String {
        "\(answered.grouped) answered, \(sent.grouped) requests, \(refreshes.grouped) refreshes, \(logIns.grouped) log-ins"
    }

    static func += (totals: inout StressTotals, other: StressTotals) {
        totals.answered += other.answered
        totals.sent += other.sent
        totals.refreshes += other.refreshes
        totals.logIns += other.logIns
    }
}

/// A call whose id the server gets, and which reports when the library reads it.
struct StressCall: Endpoint {
    static let idField: HTTPHeader.Name = "X-Call"

    let id: Int
    let item: Int
    let method: HTTPMethod
    let priority: Int
    /// Whether it needs no token.
    let isOpen: Bool
    let ledger: StressLedger

    var path: EndpointPath { isOpen ? "open/\(item)" : "items/\(item)" }
    var headers: HTTPHeaders { [Self.idField: "\(id)"] }

    var settings: RequestSettings { RequestSettings { $0.priority = HTTPRequest.Priority(priority) } }

    var authorizationType: AuthorizationType {
        ledger.noteRead(id)
        return isOpen ? .none : .bearer
    }
}
