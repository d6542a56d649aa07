import Foundation
import Networking

/// The token machine with all that plays with it: callers, the jobs that it begins, a store, other processes, a server
/// that rotates refresh tokens, and time.
///
/// Each move is what the library does under one lock, or without being interrupted. What the library leaves to chance,
/// such as the order of two calls, is any order here; what it leaves to the server or the store, is any answer.
struct TokenWorld: World {
    struct Options: Sendable {
        var callers = 2
        var hasStore = false
        /// Whether reading and writing the store may fail.
        var isStoreFailing = false
        /// Whether other processes use the store.
        var hasOtherProcesses = false
        /// The kinds of tokens that the server hands out.
        var lives: [Life] = [.unknown]
        /// Whether tokens are rotated by another process, which sends them to the app.
        var isRotatedElsewhere = false
    }

    /// What a token says of its end.
    enum Life: Sendable {
        case unknown
        /// It ends when time passes.
        case short
        /// It has ended on arrival: the local clock is wrong.
        case over
    }

    /// Who makes a call, and where the call stands.
    struct Caller: Sendable {
        enum Phase: UInt8 {
            case idle
            /// It waits for a permit; the gate is asked next.
            case queued
            /// The gate has said that it has to wait.
            case entering
            case waitingToPass
            case permitAcquired
            case sent
            /// The server has refused its token.
            case refused
            case waitingForRefresh
        }

        var phase = Phase.idle
        var member = SessionMember(of: nil)
        /// What it carries.
        var carried: (generation: Int, session: UUID)?
        var judgement = AccessTokenMachine.Judgement.giveUp

        // What the rules demand, counted without the library's help.
        var began: UUID?
        var hasRepeatedWithCurrent = false
        var hasRepeatedAfterRefresh = false
    }

    /// The outside part of a job.
    struct Running: Sendable {
        enum Stage: Sendable {
            /// It waits for the store, or for the lease.
            case waiting
            /// The store is to be brought what it does not have yet.
            case updating(Update)
            /// The store has been read; nothing of this process is written until the job has decided.
            case deciding(stored: AccessToken?)
            /// The server is asked.
            case refreshing(old: AccessToken?, stored: AccessToken?)
            /// The store is to be brought the new token.
            case saving(AccessToken, old: AccessToken?, stored: AccessToken?)
            /// It has been read, and is being brought the new token.
            case storing(AccessToken, old: AccessToken?, stored: AccessToken?, later: AccessToken?)
            /// The server has refused to refresh what the store had, and the store has been read again.
            case refused(stored: AccessToken?, later: AccessToken?)
        }

        let job: AccessTokenMachine.Job
        var stage: Stage
        /// Its second limit has passed.
        var isAbandoned = false

        var isSaving: Bool { if case .storing = stage { true } else { false } }
    }

    let options: Options
    var machine: AccessTokenMachine
    var callers: [Caller]
    var running: [Running] = []
    var now = Date(timeIntervalSince1970: 0)

    // The world outside.
    var store: AccessToken?
    /// The tokens whose refresh token has been used: the server has issued others for them.
    var spent: Set<String> = []
    /// The tokens whose refresh token the server takes no more, though it has not been used.
    var revoked: Set<String> = []
    /// What brings the store up to date: nil if nothing does.
    var keeper: Keeper?
    /// The token that another process has got last; it sends it to this one, which may be late.
    var rumour: AccessToken?
    /// What was read from the store, when which token was the current one, and whether another process had written it.
    var look: (found: AccessToken?, generation: Int, isForeign: Bool)?

    enum Keeper: Sendable {
        case due
        case writing(Update)
    }

    /// Something that is about to be written to the store.
    struct Update: Sendable {
        let generation: Int
        let token: AccessToken?
        /// What has to be there for that.
        let stored: AccessToken?
    }

    // What the rules demand, counted without the library's help.
    var facts = Facts()

    struct Facts: Sendable {
        /// The sessions that this process has ended.
        var ended: Set<UUID> = []
        /// The token with which the session is over.
        var over: String?
        var isOverAnnounced = false
        /// What the store has was written, or removed, by another process.
        var isForeign = false
        /// The user has logged out.
        var isLoggedOut = false
        /// The current token came from a refresh, and no response to it is known.
        var isUntried = false
        /// It had ended on arrival, and has not been refused.
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
        // Before the store has been read, the process knows nothing of the session whose token it has.
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

    /// A token that the server issues, for a log-in or in place of another one.
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

    /// Nobody waits for nothing.
    private mutating func checkWaiting() {
        let waiters = Set(machine.refresh?.waiters.map(\.id) ?? [])
        for (index, caller) in callers.enumerated() {
            let isWaiting = caller.phase == .waitingToPass || caller.phase == .waitingForRefresh
            expect(
                isWaiting == waiters.contains(UInt64(index)), "rule 7: who waits is answered, and nobody else is")
        }
        if let refresh = machine.refresh {
            expect(running.contains { $0.job.id == refresh.id }, "rule 7: a refresh that is waited for runs")
        }
        if let token = machine.token {
            expect(token.session == machine.session, "rule 11: a token has its session's id")
        }
        if case .read(isKept: true) = machine.storage, !facts.isForeign, !running.contains(where: \.isSaving) {
            expect(store == machine.token, "rule 12: what counts as saved is in the store")
        }
        if options.hasStore, running.isEmpty, keeper == nil, case .read(isKept: true) = machine.storage, let store {
            expect(!facts.ended.contains(store.session ?? UUID()), "rule 12: the store loses the token of a log-out")
        }
    }
}
