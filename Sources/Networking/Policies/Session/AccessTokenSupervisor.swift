import Foundation

/// An object that holds the access token of a session, adds the token to requests, and refreshes the token when the
/// server refuses it or when it is about to expire.
///
/// Create one supervisor for each session, and share it between services, so that they share one refresh. A service
/// needs three parts: its ``gate``, ``adapter`` and ``handler``. `NetworkService(environment:authorizedBy:)` adds all
/// of them.
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
/// If many requests are refused at once, only one refresh runs. A request that was refused with an old token is sent
/// again with the current token, without a refresh. The refresh runs in a separate task, so the cancellation of a
/// caller does not stop the refresh. Every method may be called from any thread.
public final class AccessTokenSupervisor: Sendable {
    /// A closure that gets a new token, which replaces the old token. The old token is nil if there is no token yet.
    ///
    /// The closure returns the token and does not save it. If the token has no refresh token, it keeps the one of the
    /// old token ([RFC 6749 section 6](https://www.rfc-editor.org/rfc/rfc6749#section-6)). Calls that the closure
    /// makes, in any service, need no permit, carry no token, wait for no refresh and start no refresh. All other
    /// adapters and handlers apply to these calls. Callers wait for the closure at most `refreshTimeout`, 30 seconds by
    /// default.
    ///
    /// The session ends if the closure throws ``AccessToken/Rejected``, ``GeneralRequestError/noAuth``,
    /// ``GeneralRequestError/forbidden``, or a ``NetworkError`` or ``ServerFailure`` with status 400, 401 or 403, even
    /// if the service that makes the call maps this error to an error of the app. After any other error, the session
    /// continues.
    public typealias Refresh = @Sendable (_ old: AccessToken?) async throws -> AccessToken

    /// The broadcaster of the events of the session.
    public let events = Broadcaster<AccessTokenSupervisor.Event>()
    /// The statuses that mean that a token is refused. There are few of them, so an array is faster than a set.
    let unauthorizedStatuses: [HTTPStatus]

    /// The origins that receive the token in addition to the origin of the service's environment.
    let origins: Set<HTTPOrigin>

    struct State: Sendable {
        var machine: AccessTokenMachine
        var waiters: [AccessTokenMachine.Waiter: Settlement<AccessTokenMachine.Origin>] = [:]
        var nextWaiter: AccessTokenMachine.Waiter = 0
        var jobs: [Int: Task<Void, Never>] = [:]
        /// The wait of the task that updates the store. Settled when the task must try again at once.
        var keeper: Settlement<Void>?
        /// Whether another process may have changed the store since it was last read.
        var isReadPostponed = false
        /// The session to which a request has belonged last, and the user that its requests share.
        private(set) var known: (session: UUID, user: HTTPHeader.User)?

        /// The user of the current session. Nil if there is no token, and if the token comes from a store that does not
        /// keep the ids of sessions, because the tokens of several users then have the same id.
        mutating func currentUser() -> HTTPHeader.User? {
            let session = machine.session
            guard machine.token != nil, session != AccessToken.unnamedSession else { return nil }
            if let known, known.session == session { return known.user }
            let user = HTTPHeader.User(session.uuidString)
            known = (session, user)
            return user
        }
    }

    let refresh: Refresh
    let store: (any AccessTokenStore)?
    let clock: NetworkClock
    let refreshTimeout: Duration
    let state: Locked<State>
    /// The lock that allows one write to the store at a time.
    let writing = AsyncLock()
    private let watching = Locked<Task<Void, Never>?>(nil)

    /// Creates a supervisor.
    ///
    /// - Parameters:
    ///   - token: The first token. If it is nil, the first refusal starts a refresh.
    ///   - unauthorizedStatuses: The statuses that mean that a token is refused. Default: 401.
    ///   - refreshTimeout: The time for which callers wait for a refresh. Default: 30 seconds. A result that arrives
    ///     later is still used if it arrives within twice that time, or before the result of another refresh.
    ///   - origins: Other servers that receive the token. By default, only the origin of the service's environment
    ///     receives the token. If an endpoint or a handler names another origin, that origin receives the token only if
    ///     this set contains it.
    ///   - clock: The clock that measures time limits and expiry.
    ///   - refresh: The closure that gets a new token: see ``Refresh``.
    public convenience init(
        token: AccessToken?, unauthorizedStatuses: Set<HTTPStatus> = [.unauthorized],
        refreshTimeout: Duration = .seconds(30), origins: Set<HTTPOrigin> = [], clock: NetworkClock = .continuous,
        refresh: @escaping Refresh
    ) {
        self.init(token, nil, unauthorizedStatuses, refreshTimeout, origins, clock, refresh)
    }

    /// Creates a supervisor whose token is saved in a store that other processes may share. The supervisor starts to
    /// read the store at once. Until the store has been read, authorized calls wait, and ``accessToken`` is nil. The
    /// supervisor saves each new token, removes the token of an ended session, and refreshes only while it has
    /// exclusive access to the store: see ``AccessTokenStore``.
    public convenience init(
        store: some AccessTokenStore, unauthorizedStatuses: Set<HTTPStatus> = [.unauthorized],
        refreshTimeout: Duration = .seconds(30), origins: Set<HTTPOrigin> = [], clock: NetworkClock = .continuous,
        refresh: @escaping Refresh
    ) {
        self.init(nil, store, unauthorizedStatuses, refreshTimeout, origins, clock, refresh)
        run { machine, _ in machine.load() }
        let changes = store.changes()
        watching.withLock {
            $0 = Task.detached { [weak self] in
                var iterator = changes.makeAsyncIterator()
                while await iterator.next() != nil { await self?.lookForChanges() }
            }
        }
    }

    private init(
        _ token: AccessToken?, _ store: (any AccessTokenStore)?, _ unauthorizedStatuses: Set<HTTPStatus>,
        _ refreshTimeout: Duration, _ origins: Set<HTTPOrigin>, _ clock: NetworkClock, _ refresh: @escaping Refresh
    ) {
        self.refresh = refresh
        self.store = store
        self.origins = origins
        self.unauthorizedStatuses = Array(unauthorizedStatuses)
        self.refreshTimeout = refreshTimeout
        self.clock = clock
        let session = token?.session ?? UUID()
        let machine = AccessTokenMachine(
            token: token?.inSession(session), session: session, storage: store == nil ? .none : .unread,
            at: clock.date())
        state = Locked(State(machine: machine))
    }

    deinit { watching.withLock { $0 }?.cancel() }

    /// The current token. Assigning a token or nil ends the session and begins a new session.
    ///
    /// The assignment takes precedence over a refresh in progress. Calls of the ended session are not sent with the new
    /// token: a call that has not been sent ends with ``NetworkError/Kind/noToken``, and a call whose token is refused
    /// ends with this refusal. After nil is assigned, requests are sent without a token until a token is assigned. If
    /// such a request is refused, no refresh starts. The store is updated after the assignment; if the update fails,
    /// the failure is reported and the update is tried again.
    ///
    /// To set a token of the same session that was rotated elsewhere, call ``replace(_:)``.
    public var accessToken: AccessToken? {
        get { state.withLock { $0.machine.token } }
        set {
            let session = UUID()
            run { $0.set(newValue?.inSession(session), session: session, at: $1) }
        }
    }

    /// Replaces the current token with another token of the same session, for example a token that an extension of the
    /// app has fetched with a separate refresh. The new token takes precedence over a refresh in progress, and calls
    /// continue with the new token. If it has no refresh token, it keeps that of the current token. If there is no
    /// current token, for example after a log-out, the method does nothing.
    public func replace(_ token: AccessToken) {
        run { $0.replace(token, at: $1) }
    }

    /// Waits until the store has been read. Returns at once if there is no store, or if it has already been read.
    ///
    /// - Returns: The token.
    /// - Throws: The reason why the store cannot be read. The next call tries again.
    @discardableResult
    public func load() async throws -> AccessToken? {
        if isUnread { _ = try await wait { $0.wait($1, of: nil, toPassAt: $2) } }
        return accessToken
    }

    /// Whether the store has not been read yet.
    var isUnread: Bool { state.withLock { $0.machine.isUnread } }

    /// Whether a refresh is in progress.
    package var isRefreshing: Bool { state.withLock { $0.machine.isRefreshing } }

    /// The number of calls that wait for the refresh in progress.
    package var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// The admission policy that makes authorized requests wait while a refresh runs. It is always entered last,
    /// regardless of its position among the admission policies.
    public var gate: any AdmissionPolicy { TokenGate(supervisor: self) }

    /// The adapter that adds the token to authorized requests.
    public var adapter: TokenRequestAdapter { TokenRequestAdapter(accessTokenSupervisor: self) }

    /// The error handler that handles a refused token. Put it before the handlers that map errors.
    public var handler: UnauthorizedErrorHandler { UnauthorizedErrorHandler(accessTokenSupervisor: self) }
}

extension AccessTokenSupervisor: RedactedReflectable {
    var reflectedMembers: KeyValuePairs<String, Any> { ["token": accessToken == nil ? "none" : "<redacted>"] }
}
