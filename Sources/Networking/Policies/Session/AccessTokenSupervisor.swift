import Foundation

/// Holds the access token of a session, puts it on requests, and has it refreshed when it is refused or about to
/// expire.
///
/// Make one a session and share it between services: sharing it is sharing the refresh. Its ``gate``, ``adapter`` and
/// ``handler`` are the three parts a service needs; `NetworkService(environment:authorizedBy:)` puts them in their
/// places.
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
/// However many requests are refused at once, one refresh runs; a request refused for an old token is sent again with
/// the new one, without a refresh. The refresh runs in a task of its own, which no caller's cancellation stops. Every
/// method is safe from any thread.
public final class AccessTokenSupervisor: Sendable {
    /// Gets a new token in place of the old one, which is nil if there is none yet.
    ///
    /// It returns the token and does not store it. Its own calls need no permit, carry no token, wait for no refresh
    /// and start none, by whatever service they are made; all other adapters and handlers apply. It has
    /// `refreshTimeout`, 30 seconds by default.
    ///
    /// ``AccessToken/Rejected``, ``GeneralRequestError/noAuth`` and ``GeneralRequestError/forbidden``, and a
    /// ``NetworkError`` or ``ServerFailure`` with status 400, 401 or 403 end the session, also if the service that
    /// makes the call maps them to errors of the app's own. After any other error, the session is kept.
    public typealias Refresh = @Sendable (_ old: AccessToken?) async throws -> AccessToken

    /// Tells what becomes of the session.
    public let events = Broadcaster<AccessTokenSupervisor.Event>()
    /// The statuses that say a token is refused. Default: 401.
    let unauthorizedStatuses: Set<HTTPStatus>

    /// The other origins that get the token.
    let origins: Set<HTTPOrigin>

    struct State: Sendable {
        var machine: AccessTokenMachine
        var waiters: [AccessTokenMachine.Waiter: Settlement<AccessTokenMachine.Origin>] = [:]
        var nextWaiter: AccessTokenMachine.Waiter = 0
        var jobs: [Int: Task<Void, Never>] = [:]
        /// Brings the store up to date; settled when it is to try again at once.
        var keeper: Settlement<Void>?
        /// The store may have been changed by another process, and has not been read since.
        var isLookDue = false
    }

    let refresh: Refresh
    let store: (any AccessTokenStore)?
    let clock: NetworkClock
    let refreshTimeout: Duration
    let state: Locked<State>
    /// One write to the store at a time.
    let writing = AsyncLock()
    private let watching = Locked<Task<Void, Never>?>(nil)

    /// Makes a supervisor.
    ///
    /// - Parameters:
    ///   - token: The token to begin with; nil if there is none yet: then the first refusal fetches one.
    ///   - unauthorizedStatuses: The statuses that say a token is refused.
    ///   - refreshTimeout: How long callers wait for a refresh. Default: 30 seconds. A result that comes later is kept
    ///     all the same, if it comes within twice that time or before another one.
    ///   - origins: Other servers that get the token. It goes to the origin of the service's environment, and to no
    ///     other one that an endpoint or a handler names, unless it is listed here.
    ///   - clock: The clock by which time limits and expiry are measured.
    ///   - refresh: Gets a new token: see ``Refresh``.
    public convenience init(
        token: AccessToken?, unauthorizedStatuses: Set<HTTPStatus> = [.unauthorized],
        refreshTimeout: Duration = .seconds(30), origins: Set<HTTPOrigin> = [], clock: NetworkClock = .continuous,
        refresh: @escaping Refresh
    ) {
        self.init(token, nil, unauthorizedStatuses, refreshTimeout, origins, clock, refresh)
    }

    /// Makes a supervisor whose token is kept in a store that other processes may share. It begins to read the store at
    /// once; authorized calls wait for that, and ``accessToken`` is nil meanwhile. It saves each new token and removes
    /// each that ends, and refreshes while it has the store to itself: see ``AccessTokenStore``.
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
        self.unauthorizedStatuses = unauthorizedStatuses
        self.refreshTimeout = refreshTimeout
        self.clock = clock
        let session = token?.session ?? UUID()
        state = Locked(
            State(
                machine: AccessTokenMachine(
                    token: token?.inSession(session), session: session, storage: store == nil ? .none : .unread,
                    at: clock.date())))
    }

    deinit { watching.withLock { $0 }?.cancel() }

    /// The current token. Assigning it, also nil, ends the session and begins another one: it wins over a refresh under
    /// way, and calls that began before are not sent with the new token; they end with ``NetworkError/Kind/noToken``,
    /// or with the refusal that they had. After nil, requests go without a token, and their refusals start no refresh,
    /// until a token is assigned. A store is brought up to date afterwards; what fails there is reported, and tried
    /// again.
    ///
    /// For a token that was rotated elsewhere, in the same session, call ``replace(_:)``.
    public var accessToken: AccessToken? {
        get { state.withLock { $0.machine.token } }
        set {
            let session = UUID()
            run { $0.set(newValue?.inSession(session), session: session, at: $1) }
        }
    }

    /// Makes a token of the same session the current one, such as one that an app's extension has got by a refresh of
    /// its own. It wins over a refresh under way, and calls continue with it. After a log-out it does nothing.
    public func replace(_ token: AccessToken) {
        run { $0.replace(token, at: $1) }
    }

    /// Waits until the store has been read; returns at once if there is none, or if that has happened.
    ///
    /// - Returns: The token.
    /// - Throws: Why the store cannot be read. The next call tries again.
    @discardableResult
    public func load() async throws -> AccessToken? {
        if state.withLock({ $0.machine.isUnread }) { try await waitToPass(of: nil) }
        return accessToken
    }

    /// Whether a refresh is under way.
    package var isRefreshing: Bool { state.withLock { $0.machine.isRefreshing } }

    /// How many calls wait for the refresh under way.
    package var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Holds authorized requests back while a refresh runs. It enters last, wherever it stands among the admission
    /// policies.
    public var gate: any AdmissionPolicy { TokenGate(supervisor: self) }

    /// Puts the token on authorized requests.
    public var adapter: TokenRequestAdapter { TokenRequestAdapter(accessTokenSupervisor: self) }

    /// Repairs a refused token. Put it before the handlers that map errors.
    public var handler: UnauthorizedErrorHandler { UnauthorizedErrorHandler(accessTokenSupervisor: self) }
}

extension AccessTokenSupervisor: RedactedReflectable {
    var reflectedMembers: KeyValuePairs<String, Any> { ["token": accessToken == nil ? "none" : "<redacted>"] }
}
