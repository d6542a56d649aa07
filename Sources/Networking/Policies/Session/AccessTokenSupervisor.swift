import Foundation

/// An object that holds the access token of a session, adds the token to requests, and refreshes the token when the
/// server refuses it or when it is about to expire.
///
/// Create one supervisor for each session, and share it between services, so that they share one refresh. A service
/// uses it through two parts: ``TokenRequestAdapter`` adds the token, and ``UnauthorizedErrorHandler`` refreshes it and
/// repeats the call. `NetworkService(environment:authorizedBy:)` adds both of them.
///
/// ```swift
/// let session = AccessTokenSupervisor(token: keychain.token) { old in
///     let grant: Grant = try await auth.request(AuthEndpoint.refresh(old?.refreshToken ?? ""))
///     return AccessToken(grant.token, expiresIn: .seconds(grant.expiresIn), refreshToken: grant.refreshToken)
/// }
/// let saving = session.tokens.observe { token in keychain.token = token }
/// let asking = session.events.observe { event in
///     if case .sessionOver = event { showLogin() }
/// }
/// ```
///
/// To use the token outside of a service, call ``validToken()``.
///
/// If many requests are refused at once, only one refresh runs. A request that was refused with an old token is sent
/// again with the current token, without a refresh. The refresh runs in a separate task, so the cancellation of a
/// caller does not stop the refresh. Every method may be called from any thread.
public final class AccessTokenSupervisor: Sendable {
    /// A closure that gets a new token, which replaces the old token. The old token is nil if the first token has to be
    /// fetched.
    ///
    /// The closure returns the token and does not save it. If the new token has no refresh token, it gets the refresh
    /// token of the old token ([RFC 6749 section 6](https://www.rfc-editor.org/rfc/rfc6749#section-6)). Calls that the
    /// closure makes, in any service, need no permit, carry no token, wait for no refresh and start no refresh. All
    /// other adapters and handlers apply to these calls. Callers wait for the closure at most `refreshTimeout`, 30
    /// seconds by default.
    ///
    /// Make the calls in the task of the closure. A call in a `Task.detached`, or in a callback of another SDK, is not
    /// known to belong to the refresh. If such a call is authorized, it waits for the refresh while the refresh waits
    /// for the call, until the time limit has passed. To prevent this, set ``RequestSettings/admission`` to
    /// ``RequestSettings/Admission/refresh``.
    ///
    /// The session ends if the closure throws ``AccessToken/Rejected``, ``GeneralRequestError/noAuth``,
    /// ``GeneralRequestError/forbidden``, or a ``NetworkError`` or ``ServerFailure`` with status 400, 401 or 403. The
    /// session also ends if the service of a call inside the closure has mapped such an error to an error of the app.
    /// After any other error, the session continues.
    public typealias Refresh = @Sendable (_ old: AccessToken?) async throws -> AccessToken

    /// The broadcaster of the events of the session. A supervisor with a store begins to read it at once. Observe with
    /// `replayingCurrent`, so that you do not miss an event of this first reading.
    public let events = Broadcaster<AccessTokenSupervisor.Event>()
    /// The broadcaster of the token. It publishes the token after each log-in, refresh and log-out. Its current value
    /// is the current token, which is nil after a log-out; there is no value until the store has been read.
    public let tokens: Broadcaster<AccessToken?>
    /// The statuses that mean that a token is refused. There are few of them, so an array is faster than a set.
    let unauthorizedStatuses: [HTTPStatus]
    /// Whether a response with another status refuses the token.
    let refuses: (@Sendable (HTTPResponse) -> Bool)?

    /// The origins that receive the token in addition to the origin of the service's environment.
    let origins: Set<HTTPOrigin>

    struct State: Sendable {
        var machine: AccessTokenMachine
        /// The waits in progress. `call` is the call that waits before it is sent; nil if other code waits.
        var waiters: [AccessTokenMachine.Waiter: (turn: Settlement<Int?>, call: SessionTicket.Call?)] = [:]
        var nextWaiter: AccessTokenMachine.Waiter = 0
        var jobs: [Int: Task<Void, Never>] = [:]
        /// The wait of the task that updates the store. Settled when the task must try again at once.
        var keeper: Settlement<Void>?
        /// Whether another process may have changed the store since it was last read.
        var isReadPostponed = false
        var reading = StoreReading()
        /// The session for which the user was determined last, and this user. All requests of the session share this
        /// object.
        private(set) var known: (session: UUID, user: HTTPHeader.User)?

        /// The user of the current session. Nil if there is no token. Also nil if the token comes from a store that
        /// does not keep the ids of sessions, because the tokens of several users then have the same id.
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
    /// Whether each log-in may belong to another user. If false, all tokens belong to one client.
    let hasUsers: Bool
    /// The id of the first session if its token came without an id. The next process assigns another id to this
    /// session.
    let unnamed: UUID?
    let state: Locked<State>
    /// The lock that allows one write to the store at a time.
    let writing = AsyncLock()
    private let watching = Locked<Task<Void, Never>?>(nil)

    /// Creates a supervisor.
    ///
    /// - Parameters:
    ///   - token: The first token. Nil means logged out: requests are sent without a token, and no refresh starts.
    ///   - fetchingFirst: Whether the first token is fetched by `refresh` before the first request is sent, as for
    ///     OAuth client credentials. This applies only until a token is set or removed for the first time. Default:
    ///     false.
    ///   - unauthorizedStatuses: The statuses that mean that a token is refused. Default: 401. A 401 with the error
    ///     `insufficient_scope` (RFC 6750 section 3.1) does not mean that the token is refused.
    ///   - refuses: Returns whether a response refuses the token although its status does not mean so, for example a
    ///     GraphQL response with the code `UNAUTHENTICATED`. The closure is called on any thread, once for each
    ///     response whose request carries the token and whose body is in memory. A response that refuses the token is a
    ///     failure, and is not stored.
    ///   - refreshTimeout: The time for which callers wait for a refresh. Default: 30 seconds. A result that arrives
    ///     later is still used if it arrives within twice that time, or before the result of another refresh.
    ///   - refreshLeeway: A token that expires within this time counts as about to expire, and is refreshed before a
    ///     request is sent with it. Default: 30 seconds; at most a tenth of the token's lifetime.
    ///   - origins: Other servers that receive the token. By default, only the origin of the service's environment
    ///     receives the token. If an endpoint or a handler names another origin, that origin receives the token only if
    ///     this set contains it.
    ///   - clock: The clock that measures time limits and expiry.
    ///   - refresh: The closure that gets a new token: see ``Refresh``.
    public convenience init(
        token: AccessToken? = nil, fetchingFirst: Bool = false, unauthorizedStatuses: Set<HTTPStatus> = [.unauthorized],
        refuses: (@Sendable (HTTPResponse) -> Bool)? = nil, refreshTimeout: Duration = .seconds(30),
        refreshLeeway: Duration = .seconds(30), origins: Set<HTTPOrigin> = [], clock: NetworkClock = .continuous,
        refresh: @escaping Refresh
    ) {
        let options = Options(
            form: fetchingFirst ? .fetchesFirst : .renewable, unauthorizedStatuses: unauthorizedStatuses,
            refuses: refuses, refreshTimeout: refreshTimeout, leeway: refreshLeeway, origins: origins, clock: clock)
        self.init(token, nil, options, refresh)
    }

    /// Creates a supervisor whose token is saved in a store that other processes may share. The supervisor starts to
    /// read the store at once. Until the store has been read, authorized calls wait, and ``accessToken`` is nil. The
    /// supervisor saves each new token, removes the token of an ended session, and refreshes only while it has
    /// exclusive access to the store: see ``AccessTokenStore``. If the store contains no token, the user is logged out,
    /// or the first token is fetched.
    public convenience init(
        store: some AccessTokenStore, fetchingFirst: Bool = false,
        unauthorizedStatuses: Set<HTTPStatus> = [.unauthorized], refuses: (@Sendable (HTTPResponse) -> Bool)? = nil,
        refreshTimeout: Duration = .seconds(30), refreshLeeway: Duration = .seconds(30), origins: Set<HTTPOrigin> = [],
        clock: NetworkClock = .continuous, refresh: @escaping Refresh
    ) {
        let options = Options(
            form: fetchingFirst ? .fetchesFirst : .renewable, unauthorizedStatuses: unauthorizedStatuses,
            refuses: refuses, refreshTimeout: refreshTimeout, leeway: refreshLeeway, origins: origins, clock: clock)
        self.init(nil, store, options, refresh)
        run { machine, _ in machine.load() }
        let changes = store.changes()
        watching.withLock {
            $0 = Task.detached { [weak self] in
                var iterator = changes.makeAsyncIterator()
                while await iterator.next() != nil { await self?.lookForChanges() }
            }
        }
    }

    /// Creates a supervisor whose token is never refreshed, such as an API key. If the server refuses the token, the
    /// call ends with this refusal, and the session continues.
    ///
    /// - Parameters:
    ///   - token: The value of the token.
    ///   - scheme: The scheme with which the token is sent. Default: the scheme of the endpoint's authorization type.
    ///   - refuses: Returns whether a response refuses the token although its status is not 401. Default: nil.
    ///   - origins: Other servers that receive the token. Default: none.
    public convenience init(
        fixed token: String, scheme: AuthorizationType? = nil, refuses: (@Sendable (HTTPResponse) -> Bool)? = nil,
        origins: Set<HTTPOrigin> = []
    ) {
        let options = Options(form: .fixed, refuses: refuses, origins: origins)
        self.init(AccessToken(token, scheme: scheme), nil, options) { _ in throw TokenUnavailable.fixed }
    }

    /// What the initializers have in common.
    private struct Options {
        var form: AccessTokenMachine.Form
        var unauthorizedStatuses: Set<HTTPStatus> = [.unauthorized]
        var refuses: (@Sendable (HTTPResponse) -> Bool)?
        var refreshTimeout = Duration.seconds(30)
        var leeway = Duration.seconds(30)
        var origins: Set<HTTPOrigin> = []
        var clock = NetworkClock.continuous
    }

    private init(
        _ token: AccessToken?, _ store: (any AccessTokenStore)?, _ options: Options, _ refresh: @escaping Refresh
    ) {
        self.refresh = refresh
        self.store = store
        origins = options.origins
        unauthorizedStatuses = Array(options.unauthorizedStatuses)
        refuses = options.refuses
        refreshTimeout = options.refreshTimeout
        clock = options.clock
        hasUsers = options.form == .renewable
        let session = token?.session ?? UUID()
        unnamed = token?.session == nil ? session : nil
        let machine = AccessTokenMachine(
            token: token?.inSession(session), session: session, storage: store == nil ? .none : .unread,
            form: options.form, leeway: max(options.leeway / .seconds(1), 0), at: options.clock.date())
        tokens = store == nil ? Broadcaster(.some(machine.token)) : Broadcaster()
        state = Locked(State(machine: machine))
    }

    deinit { watching.withLock { $0 }?.cancel() }

    /// The current token. Assigning a token or nil ends the session and begins a new session.
    ///
    /// The assignment takes precedence over a refresh in progress. Calls of the ended session are not sent with the new
    /// token. This includes calls that began while nobody was logged in. A call that has not been sent ends with
    /// ``NetworkError/Kind/noToken``. A call whose token is refused ends with this refusal. After nil is assigned,
    /// requests are sent without a token until a token is assigned. If such a request is refused, no refresh starts.
    /// The store is updated after the assignment; if the update fails, the failure is reported and the update is tried
    /// again.
    ///
    /// To set a token of the same session, for example if the same user has typed the password again, call
    /// ``replace(_:)``: calls then continue with the new token.
    public var accessToken: AccessToken? {
        get { state.withLock { $0.machine.token } }
        set {
            let session = UUID()
            run { $0.set(newValue?.inSession(session), session: session, at: $1) }
        }
    }

    /// Replaces the current token with another token of the same session. Use this method if an extension of the app
    /// has fetched a token with a separate refresh, or if the same user has logged in again. The new token takes
    /// precedence over a refresh in progress, and calls continue with the new token. If the new token has no refresh
    /// token, it gets the refresh token of the current token. The method does nothing if there is no current token, for
    /// example after nil was assigned, or if the new token carries the id of another session (``AccessToken/session``).
    public func replace(_ token: AccessToken) {
        run { $0.replace(token, at: $1) }
    }

    /// Whether the store has not been read yet.
    var isUnread: Bool { state.withLock { $0.machine.isUnread } }

    /// Whether a refresh is in progress.
    package var isRefreshing: Bool { state.withLock { $0.machine.isRefreshing } }

    /// The number of calls that wait for the refresh in progress.
    package var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// The admission policy that makes authorized requests wait while a refresh runs. It is always entered last,
    /// regardless of its position among the admission policies. A service that has the ``handler`` already has this
    /// policy.
    public var gate: any AdmissionPolicy { TokenGate(supervisor: self) }

    /// The adapter that adds the token to authorized requests.
    public var adapter: TokenRequestAdapter { TokenRequestAdapter(accessTokenSupervisor: self) }

    /// The error handler that handles a refused token. Put it before the handlers that map errors.
    public var handler: UnauthorizedErrorHandler { UnauthorizedErrorHandler(accessTokenSupervisor: self) }
}
