import Foundation

/// Holds the access token of a session, puts it on requests, and has it refreshed when it is refused or about to expire.
///
/// Make one a session and share it between services: sharing it is sharing the refresh. Its ``gate``, ``adapter`` and ``handler``
/// are the three parts a service needs; `NetworkService(environment:authorizedBy:)` puts them in their places.
///
/// ```swift
/// let session = AccessTokenSupervisor(token: keychain.token) { old in
///     let grant: Grant = try await auth.request(AuthEndpoint.refresh(old?.refreshToken ?? ""))
///     return AccessToken(grant.token, expiresIn: .seconds(grant.expiresIn), refreshToken: grant.refreshToken)
/// }
/// let token = session.events.observe { event in
///     switch event {
///     case .refreshed(let token): keychain.token = token
///     case .unreachable: break
///     case .sessionOver: showLogin()
///     case .notStored: break
///     }
/// }
/// ```
///
/// However many requests are refused at once, one refresh runs; a request refused for an old token is sent again with the new one, without a refresh. The
/// refresh runs in a task of its own, which no caller's cancellation stops. Every method is safe from any thread.
public final class AccessTokenSupervisor: Sendable {
    /// Gets a new token in place of the old one, which is nil where there was none yet.
    public typealias Refresh = @Sendable (_ old: AccessToken?) async throws -> AccessToken

    /// Tells what becomes of the session.
    public let events = Broadcaster<AccessTokenEvent>()
    /// The statuses that say a token is refused: 401 unless said otherwise.
    public let unauthorizedStatuses: Set<HTTPStatus>

    struct State: Sendable {
        var machine: AccessTokenMachine
        var waiters: [AccessTokenMachine.Waiter: Settlement<Void>] = [:]
        var nextWaiter: AccessTokenMachine.Waiter = 0
        var task: (id: Int, task: Task<Void, Never>)?
    }

    let refresh: Refresh
    let store: (any AccessTokenStore)?
    /// Writing to the store, one after another.
    let saving = Locked(())
    /// What this supervisor knows of the store.
    struct StoreState: Sendable {
        /// The token that was last read from it, or kept there.
        var token: String?
        /// Whether the session's token is there, as far as is known: it is not where it could not be kept.
        var hasCurrent: Bool
    }

    let lastStored: Locked<StoreState>
    let clock: NetworkClock
    let state: Locked<State>
    private let refreshTimeout: Duration

    /// Makes a supervisor.
    ///
    /// - Parameters:
    ///   - token: The token to begin with; nil where there is none yet, in which case the first refusal fetches one.
    ///   - unauthorizedStatuses: The statuses that say a token is refused.
    ///   - refreshTimeout: How long a refresh may take: 30 seconds unless said otherwise.
    ///   - clock: What tells the time.
    ///   - refresh: Gets a new token. It answers with it and does not store it. See ``AccessTokenRefresher`` for what its errors mean.
    public convenience init(
        token: AccessToken?, unauthorizedStatuses: Set<HTTPStatus> = [.unauthorized],
        refreshTimeout: Duration = .seconds(30), clock: NetworkClock = .continuous, refresh: @escaping Refresh
    ) {
        self.init(token, nil, unauthorizedStatuses, refreshTimeout, clock, refresh)
    }

    /// Makes a supervisor whose token is kept in a store that other processes may share. It begins with what is kept there, keeps each new
    /// token and each removal there, and refreshes while it has the store to itself: see ``AccessTokenStore``.
    ///
    /// - Throws: What loading the token throws.
    public convenience init(
        store: some AccessTokenStore, unauthorizedStatuses: Set<HTTPStatus> = [.unauthorized],
        refreshTimeout: Duration = .seconds(30), clock: NetworkClock = .continuous, refresh: @escaping Refresh
    ) throws {
        self.init(try store.load(), store, unauthorizedStatuses, refreshTimeout, clock, refresh)
    }

    private init(
        _ token: AccessToken?, _ store: (any AccessTokenStore)?, _ unauthorizedStatuses: Set<HTTPStatus>,
        _ refreshTimeout: Duration, _ clock: NetworkClock, _ refresh: @escaping Refresh
    ) {
        self.refresh = refresh
        self.store = store
        lastStored = Locked(
            StoreState(token: store == nil ? nil : token?.value, hasCurrent: store != nil && token != nil))
        self.unauthorizedStatuses = unauthorizedStatuses
        self.refreshTimeout = refreshTimeout
        self.clock = clock
        state = Locked(State(machine: AccessTokenMachine(token: token, at: clock.date())))
    }

    /// Makes a supervisor that has an object refresh the token. The object is held weakly.
    public convenience init(
        token: AccessToken?, unauthorizedStatuses: Set<HTTPStatus> = [.unauthorized],
        refreshTimeout: Duration = .seconds(30), clock: NetworkClock = .continuous, refresher: any AccessTokenRefresher
    ) {
        self.init(
            token: token, unauthorizedStatuses: unauthorizedStatuses, refreshTimeout: refreshTimeout, clock: clock
        ) { [weak refresher] old in
            guard let refresher else { throw RefresherReleased() }
            return try await refresher.refreshAccessToken(old)
        }
    }

    /// The current token. Setting it, also to nil, wins over a refresh under way, and writes to the store, where there is one. Removing it ends the session: requests go without
    /// a token, and their refusals start no refresh, until one is set.
    public var accessToken: AccessToken? {
        get { state.withLock { $0.machine.token } }
        set {
            run { $0.set(newValue, at: $1) }
            keepCurrent()
        }
    }

    /// Whether a refresh is under way.
    public var isRefreshing: Bool { state.withLock { $0.machine.isRefreshing } }

    /// How many calls wait for the refresh under way.
    public var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Holds authorized requests back while a refresh runs. It enters last, wherever it stands among the admission policies.
    public var gate: TokenGate { TokenGate(supervisor: self) }

    /// Puts the token on authorized requests.
    public var adapter: TokenRequestAdapter { TokenRequestAdapter(accessTokenSupervisor: self) }

    /// Repairs a refused token. Put it before the handlers that map errors.
    public var handler: UnauthorizedErrorHandler { UnauthorizedErrorHandler(accessTokenSupervisor: self) }
}

// What the gate, the adapter and the handler ask.
extension AccessTokenSupervisor {
    /// The token with the generation that a request dressed in it carries.
    var current: (token: AccessToken?, generation: Int) {
        state.withLock { ($0.machine.token, $0.machine.generation) }
    }

    var mayPass: Bool {
        let now = clock.date()
        return state.withLock { $0.machine.mayPass(at: now) }
    }

    func waitToPass() async throws {
        try await wait { $0.wait($1, toPassAt: $2) }
    }

    /// Why the refresh failed that the refusal of a token of that generation called for; nil where it did not.
    func refreshError(of generation: Int) -> (any Error)? {
        state.withLock { $0.machine.refreshError(ofGeneration: generation) }
    }

    func waitForRefresh(of generation: Int) async throws {
        try await wait { machine, waiter, _ in machine.wait(waiter, forRefreshOfGeneration: generation) }
    }

    /// What an answer means for the token that its request carried; nil where it is not about one, or does not refuse it.
    func judge(_ response: HTTPResponse) -> AccessTokenMachine.Judgement? {
        guard let sent = response.request[option: CarriedTokenOption.self] as? SentToken,
            sent.supervisor == ObjectIdentifier(self)
        else {
            return nil
        }
        guard isRefusal(response) else {
            run { machine, _ in
                machine.noteAnswer(toGeneration: sent.generation)
                return []
            }
            return nil
        }
        if let judgement = sent.judgement.withLock({ $0 }) { return judgement }
        let isRefreshSpent = response.request[option: TokenRepeats.self].contains(.afterRefresh)
        var judgement = AccessTokenMachine.Judgement.giveUp
        run { machine, _ in
            machine.noteAnswer(toGeneration: sent.generation)
            // A refusal of the token that this call's own refresh brought must not start another one.
            guard !isRefreshSpent || sent.generation < machine.generation else { return [] }
            let effects: [AccessTokenMachine.Effect]
            (judgement, effects) = machine.judge(refusalOfGeneration: sent.generation)
            return effects
        }
        sent.judgement.withLock { $0 = judgement }
        return judgement
    }

    private func isRefusal(_ response: HTTPResponse) -> Bool {
        unauthorizedStatuses.contains(response.status)
            && !response.headers.challenges.contains { $0.error == "insufficient_scope" }
    }
}

// Running the machine.
extension AccessTokenSupervisor {
    /// Runs one event under the lock, and its effects outside.
    private func run(_ event: (inout AccessTokenMachine, Date) -> [AccessTokenMachine.Effect]) {
        let now = clock.date()
        perform(
            state.withLock { state in
                let effects = event(&state.machine, now)
                enqueueAnnouncements(effects)
                return effects
            })
    }

    private func wait(
        _ event: (inout AccessTokenMachine, AccessTokenMachine.Waiter, Date) -> [AccessTokenMachine.Effect]
    ) async throws {
        let now = clock.date()
        let turn = Settlement<Void>()
        let (waiter, effects) = state.withLock { state in
            let waiter = state.nextWaiter
            state.nextWaiter += 1
            state.waiters[waiter] = turn
            let effects = event(&state.machine, waiter, now)
            enqueueAnnouncements(effects)
            return (waiter, effects)
        }
        perform(effects)
        do {
            try await turn.value()
        } catch {
            state.withLock { state in
                state.waiters[waiter] = nil
                state.machine.leave(waiter)
            }
            throw error
        }
    }

    private func perform(_ effects: [AccessTokenMachine.Effect]) {
        for effect in effects {
            switch effect {
            case .startRefresh(let id, let old): startRefresh(id, replacing: old)
            case .cancelRefresh(let id): refreshTask(id)?.cancel()
            case .release(let waiter): turn(of: waiter)?.settle(.success(()))
            case .fail(let waiter, let error): turn(of: waiter)?.settle(.failure(error))
            case .announce: events.deliver()
            }
        }
    }

    /// Under the lock, so that what is told has the order in which it happened.
    private func enqueueAnnouncements(_ effects: [AccessTokenMachine.Effect]) {
        for case .announce(let event) in effects { events.enqueue(event) }
    }

    private func turn(of waiter: AccessTokenMachine.Waiter) -> Settlement<Void>? {
        state.withLock { $0.waiters.removeValue(forKey: waiter) }
    }

    private func refreshTask(_ id: Int) -> Task<Void, Never>? {
        state.withLock { $0.task?.id == id ? $0.task?.task : nil }
    }

    /// Rule 6: the refresh has a task of its own, and a time limit that counts even where the task does not listen.
    private func startRefresh(_ id: Int, replacing old: AccessToken?) {
        let timeout = clock.schedule(at: clock.now() + refreshTimeout) { [self] in
            // In this order: what the task ends with when it is cancelled is not why the refresh ended.
            let task = refreshTask(id)
            endRefresh(
                id,
                .failure(
                    NetworkError(
                        .deadlineTimedOut, reason: "the token refresh took longer than \(refreshTimeout.words)")))
            task?.cancel()
        }
        let task = Task.detached { [self] in
            let result: Result<AccessToken, any Error>
            do { result = .success(try await RefreshMark.run { try await renew(id, replacing: old) }) } catch {
                result = .failure(error)
            }
            timeout.cancel()
            endRefresh(id, result)
        }
        let isWanted = state.withLock { state in
            guard state.machine.isWanted(refresh: id) else { return false }
            state.task = (id, task)
            return true
        }
        // The token may have been set or removed before the task was there to be cancelled.
        if !isWanted { task.cancel() }
    }

    private func endRefresh(_ id: Int, _ result: Result<AccessToken, any Error>) {
        run { machine, now in
            switch result {
            case .success(let token):
                machine.refreshSucceeded(id, with: token, at: now)
            case .failure(let error):
                machine.refreshFailed(id, with: error, isRejection: RefreshRejection.isOne(error))
            }
        }
    }
}
