import Foundation
import Networking

/// The token machine and its environment: callers, the jobs that the machine starts, a store, other processes, a server
/// that rotates refresh tokens, and time.
///
/// Each move is a step that the library takes under one lock or without interruption. If the library does not define an
/// order, such as the order of two calls, the world allows any order. If the server or the store decides something, the
/// world allows any result.
struct TokenWorld: World {
    /// The handlers that precede the session's handler in the chain of a caller, and how the refusal of the caller's
    /// token becomes known.
    enum Role: UInt8, Sendable {
        /// No handler that can make a decision.
        case first
        /// A handler that may end the call, retry it, take any amount of time, or pass the refusal on.
        case behind
        /// The caller has joined the transfer of another caller. The refusal becomes known when the chain of this
        /// caller reaches the session's handler.
        case follower
        /// As ``behind``. The call is made by a handler of the first call, which waits for it.
        case nested
        /// The caller asks for a new token, and sends nothing.
        case asker
        /// As ``first``. The call is sent without a token if there is none.
        case optional

        /// As ``first``. The app adds the token to the request itself, and may have taken it from the session before
        /// the call began.
        case own

        /// Whether no handler that can make a decision precedes the session's handler.
        var isFirst: Bool { self == .first || self == .optional || self == .own }
    }

    struct Options: Sendable {
        var roles: [Role] = [.first, .first]
        var form = TokenRules.Form.renewable
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
        var member = SessionTicket.Member(of: 0)
        /// The token that the call carries.
        var mark: SessionTicket.Mark?
        /// The value of the token that the app has taken and will add.
        var taken: String?
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
        /// The number of changes of the token when the job began.
        let changes: Int
        var stage: Stage
        /// How often the time limit of the job has passed.
        var limits = 0
        /// Whether the token has changed since the job began, or another job has read the store.
        var isStale = false

        /// Whether the second time limit of the job has passed.
        var isAbandoned: Bool { limits > 1 }

        /// Whether the calls wait for the result of the job.
        var counts: Bool { !isAbandoned && !isStale }

        var isSaving: Bool { if case .storing = stage { true } else { false } }
    }

    let options: Options
    var machine: AccessTokenMachine
    var callers: [Caller]
    var running: [Running] = []
    var now = Date(timeIntervalSince1970: 0)

    // The state outside the process.
    var store: AccessToken?
    /// The tokens whose refresh token has been used: the server has issued other tokens in return.
    var spent: Set<String> = []
    /// The tokens whose refresh token the server no longer accepts, although it has not been used.
    var revoked: Set<String> = []
    /// The writer that brings the store up to date, or nil if there is nothing to write.
    var keeper: Keeper?
    /// The latest token that another process has sent to this process. The token may arrive late.
    var rumour: AccessToken?
    /// The token that was read from the store, the generation of the current token at that time, and facts for the
    /// rules: the number of changes of the token, and whether another process had written the stored token.
    var look: (found: AccessToken?, generation: Int, changes: Int, isForeign: Bool)?

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

    // The facts that the rules need. They are recorded without the machine.
    var rules: TokenRules
    /// How often the current token has changed.
    var changes = 0
    /// Whether the content of the store is known, or was replaced by the app.
    var isStoreKnown: Bool
    /// The current token and its session. If there is no token, the session is that of the next token.
    var token: String?
    var session = UUID()
    /// The sessions that this process has ended.
    var ended: Set<UUID> = []
    /// Whether another process has written or removed the token in the store.
    var isForeign = false

    private var lastID: UInt64 = 0

    init(_ options: Options, beginningWith token: Bool) {
        self.options = options
        isStoreKnown = !options.hasStore
        callers = Array(repeating: Caller(), count: options.roles.count)
        machine = AccessTokenMachine(token: nil, session: UUID(), at: now)
        rules = TokenRules(
            calls: options.roles.count, form: options.form, hasStore: options.hasStore,
            hasToken: token && !options.hasStore)
        session = newSession()
        let first = token ? newToken(options.form == .fixed ? .short : .unknown, in: session) : nil
        // Before the store has been read, the process does not know the session of the stored token.
        if options.hasStore { session = newSession() }
        machine = AccessTokenMachine(
            token: options.hasStore ? nil : first, session: session, storage: options.hasStore ? .unread : .none,
            form: options.form.machine, at: now)
        guard options.hasStore else {
            self.token = first?.value
            return
        }
        store = first
        perform(machine.load())
    }

    mutating func make(_ move: TokenMove) -> [String] {
        rules.faults = []
        rules.cause = .other
        switch move {
        case .caller(let index, let step): make(step, by: index)
        case .job(let index, let step): make(step, in: index)
        case .app(let step): make(step)
        case .store(let step): make(step)
        }
        check()
        return rules.faults
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

    /// Lets the rules check the state after a move.
    private mutating func check() {
        let waiters = Set(machine.refresh?.waiters.map(\.id) ?? [])
        let agree = callers.enumerated().map { index, caller in
            (caller.phase == .waitingToPass || caller.phase == .waitingForRefresh) == waiters.contains(UInt64(index))
        }
        rules.checkToken(isLatest: machine.token?.value == token)
        rules.check(
            waitersAgree: agree,
            runs: machine.refresh.map { refresh in running.contains { $0.job.id == refresh.id } },
            tokenSession: machine.token.map { ($0.session, machine.session) })
        guard case .read(isKept: true) = machine.storage else { return }
        if options.hasStore, running.isEmpty, keeper == nil, let store {
            rules.checkLogOut(holdsEnded: ended.contains(store.session ?? UUID()))
        }
        if !isForeign, !running.contains(where: \.isSaving) { rules.checkStore(isKept: store == machine.token) }
    }
}
