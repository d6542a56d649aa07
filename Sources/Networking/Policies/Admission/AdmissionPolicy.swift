/// The permit of a policy for one attempt. It is returned to the policy when the attempt is over.
public struct AdmissionPermit: Sendable {
    /// In a block of memory of its own, because hardly any permit has a context and all of them are copied.
    private final class Kept: Sendable {
        let context: any Sendable

        init(_ context: any Sendable) {
            self.context = context
        }
    }

    /// The host of the request, for a policy that counts by hosts.
    public let origin: HTTPOrigin?
    private let kept: Kept?

    /// A value of the policy's own, which it gets back with the permit.
    public var context: (any Sendable)? { kept?.context }

    /// Makes a permit.
    ///
    /// - Parameters:
    ///   - origin: The host of the request, `request.origin`, for a policy that counts by hosts. Default: nil.
    ///   - context: A value that the policy gets back with the permit. Default: nil.
    public init(for origin: HTTPOrigin? = nil, context: (any Sendable)? = nil) {
        self.origin = origin
        kept = context.map(Kept.init)
    }
}

extension AdmissionPermit {
    /// How an attempt ended.
    public enum Outcome: Sendable {
        /// With a response, whatever its status is.
        case answered(HTTPResponse)
        /// Without a response, or with an incomplete one.
        case failed(any Error)
        /// Nothing was sent.
        case notSent
    }
}

extension AdmissionPermit.Outcome {
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
/// A service asks its policies before each attempt, in the task of the call: the circuit breaker, the backoff gate,
/// ``NetworkConfiguration/admissionPolicies``, the concurrency limit, and the gate of the session. If one
/// of them returns nil, the permits of the others are returned, the call waits for that one alone, and the rest are
/// asked again: no call waits while it holds a permit. Each permit is returned exactly once, in the opposite order,
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
    /// Admits the request at once, or returns nil if it has to wait. A policy with a queue returns nil while others
    /// wait.
    ///
    /// - Throws: Why the request must not be sent at all.
    func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) throws -> AdmissionPermit?
    /// Waits until the request may be sent. Wait by ``withCallCancellation(_:)`` or ``NetworkClock/wait(for:)``, which end
    /// with the call; its deadline and a reset do not cancel the task.
    ///
    /// - Throws: Why the request must not be sent at all.
    func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit
    /// Gets a permit back, once for each permit.
    func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome)
}

/// A policy of the library, whose place in the order is fixed.
protocol StagedAdmissionPolicy: AdmissionPolicy {
    /// Its place among the policies of a service.
    var stage: AdmissionStage { get }
}

extension AdmissionPolicy {
    /// Its place among the policies of a service; an app's own policy is between the gates and the limits.
    var admissionStage: AdmissionStage { (self as? any StagedAdmissionPolicy)?.stage ?? .custom }
}

extension RequestSettings {
    /// Whether a request needs a permit.
    public enum Admission: Hashable, Sendable {
        /// The request waits for its permit.
        case required
        /// The request needs no permit of a ``ConcurrencyLimit`` and does not count there.
        case unlimited
        /// The request is part of a token refresh: it needs no permit, carries no token, waits for no refresh and
        /// starts none. The library marks the calls that a refresh makes; set it by hand if a refresh makes them in a
        /// task of its own.
        case refresh
    }

    /// Whether a request needs a permit. Default: nil, which leaves it to the endpoint, and then to the service; then
    /// ``Admission/required``.
    public var admission: Admission? {
        get { options[AdmissionOption.self] }
        set { options.set(AdmissionOption.self, newValue) }
    }
}

/// Whether a request needs a permit.
private enum AdmissionOption: HTTPRequest.Option {
    static var defaultValue: RequestSettings.Admission? { nil }
}

extension HTTPRequest {
    /// Whether the request needs a permit.
    var admission: RequestSettings.Admission {
        get { self[option: AdmissionOption.self] ?? .required }
        set { self[option: AdmissionOption.self] = newValue }
    }
}

/// The order in which a service asks its policies, whichever order they are listed in.
enum AdmissionStage: Int, Comparable, Sendable {
    /// Fails requests that would fail: ``CircuitBreaker``.
    case breaker
    /// Holds requests back that the server does not accept yet: ``BackoffGate``.
    case gate
    /// The app's own policies.
    case custom
    /// Limits how many requests are in progress: ``ConcurrencyLimit``.
    case limit
    /// Waits for a token; it gets its permit back first, so that a refresh begins before the next request is admitted:
    /// ``TokenGate``.
    case token

    static func < (lhs: AdmissionStage, rhs: AdmissionStage) -> Bool { lhs.rawValue < rhs.rawValue }
}
