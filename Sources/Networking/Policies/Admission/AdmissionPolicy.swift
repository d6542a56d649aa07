/// The permit of a policy for one attempt. It is returned to the policy when the attempt is over.
public struct AdmissionTicket: Sendable {
    /// In a block of memory of its own, because hardly any ticket has a context and all of them are copied.
    private final class Kept: Sendable {
        let context: any Sendable

        init(_ context: any Sendable) {
            self.context = context
        }
    }

    /// The host of the request, for a policy that counts by hosts.
    public let origin: HTTPOrigin?
    private let kept: Kept?

    /// A value of the policy's own, which it gets back with the ticket.
    public var context: (any Sendable)? { kept?.context }

    /// Makes a ticket.
    ///
    /// - Parameters:
    ///   - origin: The host of the request, `request.origin`, for a policy that counts by hosts. Default: nil.
    ///   - context: A value that the policy gets back with the ticket. Default: nil.
    public init(for origin: HTTPOrigin? = nil, context: (any Sendable)? = nil) {
        self.origin = origin
        kept = context.map(Kept.init)
    }
}

/// How an attempt ended.
public enum AdmissionOutcome: Sendable {
    /// With a response, whatever its status is.
    case answered(HTTPResponse)
    /// Without a response, or with an incomplete one.
    case failed(any Error)
    /// Nothing was sent.
    case notSent
}

extension AdmissionOutcome {
    /// The response; of one whose body was lost, the head.
    var response: HTTPResponse? {
        switch self {
        case .answered(let response): response
        case .failed(let error): (error as? NetworkError)?.response
        case .notSent: nil
        }
    }
}

/// Decides when a request may be sent: a limit, a gate, a circuit breaker.
///
/// A service asks its policies before each attempt, in the order of their ``stage``, in the task of the call. If one
/// of them returns nil, the tickets of the others are returned, the call waits for that one alone, and the rest are
/// asked again: no call waits while it holds a ticket. Each ticket is returned exactly once, in the opposite order,
/// as soon as the response is known and before it is validated. An error ends the attempt and goes to the error
/// handlers.
///
/// The methods are called from any thread, several at a time.
///
/// ```swift
/// /// Lets nothing out while the app is in the background.
/// struct ForegroundOnly: AdmissionPolicy {
///     let app: AppState
///
///     func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionTicket? {
///         app.isActive ? AdmissionTicket() : nil
///     }
///
///     func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionTicket {
///         try await untilCallEnds { await app.becomesActive() }
///         return AdmissionTicket()
///     }
///
///     func leave(_ ticket: AdmissionTicket, _ outcome: AdmissionOutcome) {}
/// }
/// ```
public protocol AdmissionPolicy: ResetParticipant {
    /// Its place among the policies of its service. Default: ``AdmissionStage/custom``.
    var stage: AdmissionStage { get }
    /// Admits the request at once, or returns nil if it has to wait. A policy with a queue returns nil while others
    /// wait.
    ///
    /// - Throws: Why the request must not be sent at all.
    func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) throws -> AdmissionTicket?
    /// Waits until the request may be sent. Wait by ``untilCallEnds(_:)`` or ``NetworkClock/wait(for:)``, which end
    /// with the call; its deadline and a reset do not cancel the task.
    ///
    /// - Throws: Why the request must not be sent at all.
    func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionTicket
    /// Gets a ticket back, once for each ticket.
    func leave(_ ticket: AdmissionTicket, _ outcome: AdmissionOutcome)
}

extension AdmissionPolicy {
    /// Between the gates and the limits.
    public var stage: AdmissionStage { .custom }
}

/// Whether a request needs a permit: `request[option: AdmissionOption.self] = .unlimited`.
public enum AdmissionOption: RequestOption {
    /// The kinds of admission.
    public enum Value: Hashable, Sendable {
        /// It waits for its permit as every other request does: the default.
        case required
        /// It needs no permit of a ``ConcurrencyLimit`` and does not count there.
        case unlimited
        /// It is part of a token refresh: it needs no permit, carries no token, waits for no refresh and starts none.
        /// The library marks the calls that a refresh makes; set it by hand if a refresh makes them in a task of its
        /// own.
        case refresh
    }

    /// ``Value/required``
    public static let defaultOption = Value.required
}

/// The order in which a service asks its policies, whichever order they are listed in.
public enum AdmissionStage: Int, Comparable, Sendable {
    /// Fails requests that would fail: ``CircuitBreaker``.
    case breaker
    /// Holds requests back that the server does not accept yet: ``BackoffGate``.
    case gate
    /// The app's own policies.
    case custom
    /// Limits how many requests are in progress: ``ConcurrencyLimit``.
    case limit
    /// Waits for a token; it gets its ticket back first, so that a refresh begins before the next request is admitted:
    /// ``TokenGate``.
    case token

    /// Whether one is asked before another.
    public static func < (lhs: AdmissionStage, rhs: AdmissionStage) -> Bool { lhs.rawValue < rhs.rawValue }
}
