/// What a policy gave to a request that it let in, to be given back when the request leaves.
public struct AdmissionTicket: Sendable {
    /// Memory of its own for what hardly any ticket has: each request takes and copies a ticket of every policy.
    private final class Kept: Sendable {
        let context: any Sendable

        init(_ context: any Sendable) {
            self.context = context
        }
    }

    /// The host for which it was given, where the policy counts by hosts.
    public let origin: HTTPOrigin?
    private let kept: Kept?

    /// What else the policy wants to know when the ticket comes back.
    public var context: (any Sendable)? { kept?.context }

    /// Makes a ticket.
    ///
    /// - Parameters:
    ///   - origin: The host for which it is, `request.origin`, where the policy counts by hosts.
    ///   - context: What else the policy wants to know when the ticket comes back.
    public init(for origin: HTTPOrigin? = nil, context: (any Sendable)? = nil) {
        self.origin = origin
        kept = context.map(Kept.init)
    }
}

/// How the attempt went for which a ticket was held.
public enum AdmissionOutcome: Sendable {
    /// An answer came, whatever its status.
    case answered(HTTPResponse)
    /// None came, or not the whole of one.
    case failed(any Error)
    /// Nothing was sent.
    case notSent
}

extension AdmissionOutcome {
    /// The answer, or the head of one whose body was lost.
    var response: HTTPResponse? {
        switch self {
        case .answered(let response): response
        case .failed(let error): (error as? NetworkError)?.response
        case .notSent: nil
        }
    }
}

/// May a request go now? A limit, a gate, a breaker: each is one policy of a service.
///
/// A request enters all policies of its service at once. Where one says "not now", the others are left, that one alone is waited for,
/// and the rest are tried again: nobody waits while holding anything. Each ticket is given back exactly once, when the response
/// is known and before it is handled, last entered first.
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
    /// Where it stands among the policies of its service; ``AdmissionStage/custom`` unless said otherwise.
    var stage: AdmissionStage { get }
    /// Lets the request in at once, or answers nil for "not now". While others wait their turn, newcomers are refused.
    ///
    /// - Throws: What ends the call where it may not go at all.
    func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) throws -> AdmissionTicket?
    /// Waits until the request's turn has come. What ends the call must end the wait: wait by ``untilCallEnds(_:)`` or
    /// ``NetworkClock/wait(for:)``. A cancelled task alone ends those waits of your own that heed it.
    ///
    /// - Throws: What ends the call where it may not go at all.
    func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionTicket
    /// Takes a ticket back; is called once a ticket.
    func leave(_ ticket: AdmissionTicket, _ outcome: AdmissionOutcome)
}

extension AdmissionPolicy {
    /// Between the gates and the limits.
    public var stage: AdmissionStage { .custom }
}

/// Whether a request has to be admitted: `request[option: AdmissionOption.self] = .unlimited`.
public enum AdmissionOption: RequestOption {
    /// What a request may ask for.
    public enum Value: Hashable, Sendable {
        /// It waits for its place like every other: the default.
        case required
        /// It takes no place of a ``ConcurrencyLimit`` and does not count there.
        case unlimited
        /// It is part of a token refresh: it needs no permit, gets no token, waits for no refresh and starts none. The library marks
        /// the calls that a refresh makes by itself; set it by hand where a refresh hops to a queue of its own.
        case refresh
    }

    /// It waits for its place like every other.
    public static let defaultOption = Value.required
}

/// Where a policy stands among those of its service: they are entered in this order and left in the opposite one, however they are listed.
public enum AdmissionStage: Int, Comparable, Sendable {
    /// It refuses what has no prospect: ``CircuitBreaker``.
    case breaker
    /// It holds back what the server does not want yet: ``BackoffGate``.
    case gate
    /// Everything that says nothing else.
    case custom
    /// It hands out places: ``ConcurrencyLimit``.
    case limit
    /// It waits for a token, and hears of a refusal before the place is handed on: `TokenGate`.
    case token

    /// Whether one stands before another.
    public static func < (lhs: AdmissionStage, rhs: AdmissionStage) -> Bool { lhs.rawValue < rhs.rawValue }
}
