import Foundation
import Networking

/// The token machine and its environment: callers, the jobs that the machine starts, a store, other processes, a server
/// that rotates refresh tokens, and time.
///
/// Each move is a step that the library takes under one lock or without interruption. If the library does not define an
/// order, such as the order of two calls, the world allows any order. If the server or the store decides something, the
/// world allows any result.
struct TokenWorld: World {
    struct Options: Sendable {
        var callers = 2
        var hasStore = false
        /// Whether reading and writing the store may fail.
        var isStoreFailing = false
        /// Whether other processes also use the store.
        var hasOtherProcesses = false
        /// The kinds of tokens that the server issues.
        var lives: [Life] = [.unknown]
        /// Whether another process rotates tokens and sends them to the app.
        var isRotatedElsewhere = false
    }

    /// The expiry that a token states.
    enum Life: Sendable {
        case unknown
        /// The token expires when time passes.
        case short
        /// The token has expired on arrival, because the local clock is wrong.
        case over
    }

    /// A caller, and the state of its call.
    struct Caller: Sendable {
        enum Phase: UInt8 {
            case idle
            /// The call waits for a permit. Next it asks the gate.
            case queued
            /// The gate has decided that the call has to wait.
            case entering
            case waitingToPass
            case permitAcquired
            case sent
            /// The server has refused the token of the call.
            case refused
            case waitingForRefresh
        }

        var phase = Phase.idle
        var member = SessionTicket.Member(of: nil)
        /// The generation and the session of the token that the call carries.
        var carried: (generation: Int, session: UUID)?
        var judgement = AccessTokenMachine.Judgement.giveUp

        // The facts that the rules need. The model records them itself and does not ask the library.
        var began: UUID?
        var hasRepeatedWithCurrent = false
        var hasRepeatedAfterRefresh = false
    }

    /// A running job, and the stage of the work that it does outside the machine.
    struct Running: Sendable {
        enum Stage: Sendable {
            /// The job waits for the store, or for the lease.
            case waiting
            /// The job is about to write a change that the store does not have yet.
            case updating(Update)
            /// The store has been read. This process writes nothing else until the job has decided.
            case deciding(stored: AccessToken?)
            /// The job waits for the response of the server to a refresh.
            case refreshing(old: AccessToken?, stored: AccessToken?)
            /// The job has a new token, and is about to read the store again.
            case saving(AccessToken, old: AccessToken?, stored: AccessToken?)
            /// The store has been read again, and the job is about to write the new token.
            case storing(AccessToken, old: AccessToken?, stored: AccessToken?, later: AccessToken?)
            /// The server has refused to refresh the stored token, and the store has been read again.
            case refused(stored: AccessToken?, later: AccessToken?)
        }

        let job: AccessTokenMachine.Job
        var stage: Stage
        /// Whether the second time limit of the job has passed.
        var isAbandoned = false

        var isSaving: Bool { if case .storing = stage { true } else { false } }
    }

    let options: Options
    var machine: AccessTokenMachine
    var callers: [Caller]
    var running: [Running] = []
    var now = Date(timeIntervalSince1970: 0)

    // The state outside the process.
    var store: AccessToken?
    /// The tokens whose refresh token has been used, so that the server has issued other tokens for them.
    var spent: Set<String> = []
    /// The tokens whose refresh token the server no longer accepts, although it has not been used.
    var revoked: Set<String> = []
    /// The writer that brings the store up to date, or nil if there is nothing to write.
    var keeper: Keeper?
    /// The latest token that another process has sent to this process. The token may arrive late.
    var rumour: AccessToken?
    /// The token that was read from the store, the generation of the current token at that time, and whether another
    /// process had written the stored token.
    var look: (found: AccessToken?, generation: Int, isForeign: Bool)?

    enum Keeper: Sendable {
        case due
        case writing(Update)
    }

    /// A change that is about to be written to the store.
    struct Update: Sendable {
        let generation: Int
        let token: AccessToken?
        /// The content that the store must still have for the write to succeed.
        let stored: AccessToken?
    }

    // The facts that the rules need, recorded without the library.
    var facts = Facts()

    struct Facts: Sendable {
        /// The sessions that this process has ended.
        var ended: Set<UUID> = []
        /// The value of the token whose session is over.
        var over: String?
        var isOverAnnounced = false
        /// Whether another process has written or removed the token in the store.
        var isForeign = false
        /// Whether the user has logged out.
        var isLoggedOut = false
        /// Whether the current token came from a refresh, and no response to a request with this token has arrived.
        var isUntried = false
        /// Whether the current token had expired on arrival and has not been refused.
        var isWrongClock = false
    }

    private var lastID: UInt64 = 0
    var faults: [String] = []

    init(_ options: Options, beginningWith token: Bool) {
        self.options = options
        callers = Array(repeating: Caller(), count: options.callers)
        machine = AccessTokenMachine(token: nil, session: UUID(), at: now)
        let session = newSession()
        let first = token ? newToken(.unknown, in: session) : nil
        // Before the store has been read, the process does not know the session of the stored token.
        machine = AccessTokenMachine(
            token: options.hasStore ? nil : first, session: options.hasStore ? newSession() : session,
            storage: options.hasStore ? .unread : .none, at: now)
        guard options.hasStore else { return }
        store = first
        perform(machine.load())
    }

    mutating func make(_ move: TokenMove) -> [String] {
        faults = []
        switch move {
        case .caller(let index, let step): make(step, by: index)
        case .job(let index, let step): make(step, in: index)
        case .app(let step): make(step)
        case .store(let step): make(step)
        }
        checkWaiting()
        return faults
    }

    mutating func expect(_ isTrue: Bool, _ rule: String) {
        if !isTrue { faults.append(rule) }
    }

    mutating func newSession() -> UUID {
        lastID += 1
        return withUnsafeBytes(of: lastID.bigEndian) { bytes in
            UUID(
                uuid: (
                    0, 0, 0, 0, 0, 0, 0, 0, bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6],
                    bytes[7]
                ))
        }
    }

    /// Returns a new token of the server, for a log-in or as the replacement of `old`.
    mutating func newToken(_ life: Life, in session: UUID, for old: AccessToken? = nil) -> AccessToken {
        if let old { spent.insert(old.value) }
        lastID += 1
        let expiry: Date? =
            switch life {
            case .unknown: nil
            case .short: now + 100
            case .over: now - 1
            }
        return AccessToken("t\(lastID)", expiresAt: expiry, session: session)
    }

    /// Checks the rules that hold after every move: no caller waits without a refresh, and the store is up to date.
    private mutating func checkWaiting() {
        let waiters = Set(machine.refresh?.waiters.map(\.id) ?? [])
        for (index, caller) in callers.enumerated() {
            let isWaiting = caller.phase == .waitingToPass || caller.phase == .waitingForRefresh
            expect(
                isWaiting == waiters.contains(UInt64(index)), "rule 7: the machine's waiters are the calls that wait")
        }
        if let refresh = machine.refresh {
            expect(running.contains { $0.job.id == refresh.id }, "rule 7: a refresh with waiters is running")
        }
        if let token = machine.token {
            expect(token.session == machine.session, "rule 11: a token has its session's id")
        }
        if case .read(isKept: true) = machine.storage, !facts.isForeign, !running.contains(where: \.isSaving) {
            expect(store == machine.token, "rule 12: a token that counts as saved is in the store")
        }
        if options.hasStore, running.isEmpty, keeper == nil, case .read(isKept: true) = machine.storage, let store {
            expect(!facts.ended.contains(store.session ?? UUID()), "rule 12: a log-out removes the token of the store")
        }
    }
}
