/// The permit of a policy for one attempt. The pipeline returns the permit to the policy when the attempt is over.
public struct AdmissionPermit: Sendable {
    /// The origin of the request, for a policy that counts the requests of each origin.
    public let origin: HTTPOrigin?
    // A separate allocation keeps the permit small: every permit is copied, but few permits have a context.
    private let kept: CopyOnWrite<any Sendable>?

    /// A value of the policy, which the policy gets back with the permit.
    public var context: (any Sendable)? { kept?.value }

    /// Creates a permit.
    ///
    /// - Parameters:
    ///   - origin: The origin of the request, `request.origin`, for a policy that counts the requests of each origin.
    ///     Default: nil.
    ///   - context: A value that the policy gets back with the permit. Default: nil.
    public init(for origin: HTTPOrigin? = nil, context: (any Sendable)? = nil) {
        self.origin = origin
        kept = context.map { CopyOnWrite($0) }
    }
}

extension AdmissionPermit {
    /// The result of an attempt.
    public enum Outcome: Sendable {
        /// The attempt ended with a response of any status.
        case responded(HTTPResponse)
        /// The attempt ended without a response, or with an incomplete response.
        case failed(any Error)
        /// The request was not sent.
        case notSent
    }
}

extension AdmissionPermit.Outcome {
    /// The response. If its body was lost, the response contains only the head.
    var response: HTTPResponse? {
        switch self {
        case .responded(let response): response
        case .failed(let error): (error as? NetworkError)?.response
        case .notSent: nil
        }
    }
}

/// A policy that decides when a request may be sent. Examples are a limit, a gate and a circuit breaker.
///
/// Set policies of your own with ``NetworkConfiguration/admissionPolicies``.
///
/// ## When it is called
///
/// The pipeline asks all policies for a permit before each attempt, in this order: the circuit breaker, the backoff
/// gate, ``NetworkConfiguration/admissionPolicies``, the concurrency limit, the session. The pipeline calls
/// ``tryEnter(_:for:)`` of each policy. If a policy returns nil, the pipeline returns the permits of the other
/// policies, waits in ``enter(_:for:)`` of that policy, and then calls ``tryEnter(_:for:)`` of the other policies
/// again. While a call waits for one of several concurrency limits, it keeps the permits of the limits that it has
/// entered; it holds no other permits. A call with the rule ``ResponseCache/Rule/only`` sends nothing and needs no
/// permit.
///
/// When the head of the response arrives from the server, the pipeline passes it to ``heard(_:_:)`` of each policy,
/// before the body arrives. Then the pipeline returns each permit exactly once with ``leave(_:_:)``, as soon as the
/// response is received and before it is validated. For a download to a file, the pipeline returns the permit when the
/// file is complete. The pipeline calls `heard` and `leave` of the policies in the reverse order of entry. If a stale
/// stored response replaces an error, the policies receive the error.
///
/// `tryEnter` and `enter` run in the task of the call. All methods can be called on any thread, and several of them at
/// the same time.
///
/// ## What it may do
///
/// A policy counts, waits, or throws. It must not block the thread. `enter` waits with ``withCallCancellation(_:)`` or
/// ``NetworkClock/wait(for:)``, which stop waiting when the call ends. This is necessary because a deadline and a reset
/// do not cancel the task.
///
/// ## Errors
///
/// An error of `tryEnter` or `enter` ends the attempt before anything is sent. The error handlers receive the error.
///
/// ## Example
///
/// ```swift
/// /// Sends no request while the app is in the background.
/// struct ForegroundOnly: AdmissionPolicy {
///     let app: AppState
///
///     func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? {
///         app.isActive ? AdmissionPermit() : nil
///     }
///
///     func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
///         try await withCallCancellation { await app.becomesActive() }
///         return AdmissionPermit()
///     }
///
///     func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {}
/// }
/// ```
public protocol AdmissionPolicy: ResetParticipant {
    /// Admits the request at once, or returns nil if the request must wait. A policy with a queue returns nil while
    /// other requests wait.
    ///
    /// - Throws: The reason why the request must not be sent at all.
    func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) throws -> AdmissionPermit?
    /// Waits until the request may be sent. Wait with ``withCallCancellation(_:)`` or ``NetworkClock/wait(for:)``,
    /// which stop waiting when the call ends. This is necessary because a deadline and a reset do not cancel the task.
    ///
    /// - Throws: The reason why the request must not be sent at all.
    func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit
    /// Receives the head of the response, before the body arrives. A body may take minutes. Make decisions here that
    /// must not wait for the body, such as whether further requests are sent. Default: does nothing.
    ///
    /// The method is called at most once for each permit, and never after ``leave(_:_:)`` has begun. It is called for
    /// the last response of the attempt, after redirects, even if the response is a 304 or a stored response replaces
    /// it. It is not called if no head arrives, if a stored response is used without a request, or if the call shares
    /// the transfer of another call. If a transport does not report heads, it is called with the whole response right
    /// before ``leave(_:_:)``. It must not block: it may run on the thread that receives all responses.
    func heard(_ permit: AdmissionPermit, _ head: HTTPResponse)
    /// Receives a permit back. The method is called once for each permit.
    func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome)
}

extension AdmissionPolicy {
    /// Does nothing.
    public func heard(_ permit: AdmissionPermit, _ head: HTTPResponse) {}
}

/// A policy of the library, whose position in the order of the policies is fixed.
package protocol StagedAdmissionPolicy: AdmissionPolicy {
    /// The position among the policies of a service.
    var stage: AdmissionStage { get }
}

extension AdmissionPolicy {
    /// The position among the policies of a service. A policy of the app is between the gates and the limits.
    var admissionStage: AdmissionStage { (self as? any StagedAdmissionPolicy)?.stage ?? .custom }
}

extension RequestSettings {
    /// Whether a request needs a permit.
    public enum Admission: Hashable, Sendable {
        /// The request waits for its permit.
        case required
        /// The request needs no permit of a ``ConcurrencyLimit``, and the limit does not count it.
        case unlimited
        /// The request is part of a token refresh: it needs no permit, carries no token, waits for no refresh and
        /// starts no refresh. The library sets this value for the calls that a refresh makes. Set this value yourself
        /// if a refresh makes calls in an unstructured task.
        case refresh
    }
}

/// The order in which a service calls its policies, independent of the order in which they are listed.
package enum AdmissionStage: Comparable, Sendable {
    /// Policies that end requests which would fail: ``CircuitBreaker``.
    case breaker
    /// Policies that delay requests which the server does not accept yet: ``BackoffGate``.
    case gate
    /// Policies of the app.
    case custom
    /// Policies that limit the number of requests in progress: ``ConcurrencyLimit``.
    case limit
    /// The policy that waits for a token: ``TokenGate``. It gets its permit back first, so that a refresh begins before
    /// the next request is admitted.
    case token
}

/// How a request is admitted. Only the code in the folder `Admission` changes this part of a request.
struct AdmissionOrder: HTTPRequest.Order {
    /// The urgency of the request; nil means ``HTTPRequest/Priority/normal``.
    fileprivate(set) var priority: HTTPRequest.Priority?
    /// Whether the request needs a permit; nil means ``RequestSettings/Admission/required``.
    fileprivate(set) var admission: RequestSettings.Admission?
    /// The positions of the request in queues; nil before it waits for a limit.
    fileprivate(set) var positions: QueuePositions?

    var outsideOrigin: AdmissionOrder? { self }

    /// Outside its call, a request keeps only its priority.
    var outsideCall: AdmissionOrder? { priority.map { AdmissionOrder(priority: $0) } }

    /// Empty, because the admission of a request does not change its response.
    var identity: [String] { [] }

    func over(_ base: AdmissionOrder) -> AdmissionOrder {
        AdmissionOrder(
            priority: priority ?? base.priority, admission: admission ?? base.admission, positions: positions)
    }
}

extension HTTPRequest.Parts {
    var admission: AdmissionOrder { self[order: AdmissionOrder.self] }
}

extension HTTPRequest {
    /// The urgency of the request, for admission policies. Default: ``HTTPRequest/Priority/normal``.
    public var priority: HTTPRequest.Priority { parts.admission.priority ?? .normal }

    /// Whether the request needs a permit.
    var admission: RequestSettings.Admission {
        get { parts.admission.admission ?? .required }
        set { parts[order: AdmissionOrder.self].admission = newValue }
    }

    /// The positions of the request in queues. The request keeps them while it waits for other policies.
    var positions: QueuePositions? { parts.admission.positions }

    /// Sets the urgency of a request that was created by hand.
    package mutating func order(priority: HTTPRequest.Priority) {
        parts[order: AdmissionOrder.self].priority = priority
    }

    /// Lets the request keep its positions in queues from now on.
    mutating func keepPositions() {
        if positions == nil { parts[order: AdmissionOrder.self].positions = QueuePositions() }
    }
}

extension RequestSettings {
    /// The urgency of the call while it waits for a permit. Default: nil, which means ``HTTPRequest/Priority/normal``.
    public var priority: HTTPRequest.Priority? {
        get { orders.admission.priority }
        set { orders[order: AdmissionOrder.self].priority = newValue }
    }

    /// Whether a request needs a permit. Default: nil, which means that the value of the endpoint applies, then the
    /// value of the service, then ``Admission/required``.
    public var admission: Admission? {
        get { orders.admission.admission }
        set { orders[order: AdmissionOrder.self].admission = newValue }
    }
}

/// The positions of a request in the queues of limits, and the turns of the request at gates. The keys are the
/// identities of the queues and gates.
final class QueuePositions: Sendable {
    private let numbers = Locked<[ObjectIdentifier: UInt64]>([:])
    private let turns = Locked<[ObjectIdentifier: Duration]>([:])

    /// If the request has already waited for its turn at a gate after a pause, returns the end of this pause.
    /// Otherwise, returns nil.
    func turn(at gate: ObjectIdentifier) -> Duration? { turns.withLock { $0[gate] } }

    func note(turnAfter pause: Duration, at gate: ObjectIdentifier) { turns.withLock { $0[gate] = pause } }

    func number(in queue: ObjectIdentifier) -> UInt64? {
        numbers.withLock { $0[queue] }
    }

    /// Notes the first position in a queue. Later positions in the same queue have no effect.
    func note(_ number: UInt64, in queue: ObjectIdentifier) {
        numbers.withLock { $0[queue] = $0[queue] ?? number }
    }
}
