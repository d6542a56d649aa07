import Foundation
import Networking
import NetworkingTesting

/// The parts of the library that the clients of a run use.
struct FleetPolicy: Sendable {
    /// How the clients get a new access token.
    enum Session: Sendable {
        /// Each refused call gets its own token, without the library.
        case none
        /// A session of the library, whose tokens do not say when they expire.
        case opaque
        /// A session of the library, whose tokens say when they expire.
        case expiring
    }

    let name: String
    var retry: RetryPolicy?
    var hasBudget = false
    var hasGate = false
    /// The spread, as a fraction of a pause: the time after the pause over which its requests leave.
    var gateSpread = 0.0
    /// Whether event streams wait for random times before they reconnect, so that they do not all reconnect at once.
    var spreadsStreams = true
    var breaker: CircuitBreaker.Configuration?
    var session = Session.none
    /// Whether the checks apply to this policy.
    var isWhole = false

    /// The policies. The first policy has no retries. Each further policy adds or changes one part.
    static let ladder: [FleetPolicy] = {
        var policy = FleetPolicy(name: "no retries")
        var all = [policy]
        func add(_ name: String, _ change: (inout FleetPolicy) -> Void) {
            change(&policy)
            all.append(FleetPolicy(copying: policy, name: name))
        }
        add("3 retries") { $0.retry = RetryPolicy(retries: 3) }
        add("+ backoff") { $0.retry?.backoff = .exponential(first: .milliseconds(200)) }
        add("+ jitter") { $0.retry?.jitter = .full }
        add("+ budget") { $0.hasBudget = true }
        add("+ gate") { $0.hasGate = true }
        add("+ breaker") {
            $0.breaker = .init(failureRatio: 0.5, minimumCalls: 10, window: .seconds(10), pause: .seconds(30))
            $0.isWhole = true
        }
        add("+ spread 0.5") {
            $0.gateSpread = 0.5
            $0.isWhole = false
        }
        add("+ spread 1") {
            $0.gateSpread = 1
            $0.isWhole = true
        }
        // The clients make three calls in the window. The default breaker needs ten calls, so it opens only after
        // retries.
        add("for 3 calls") {
            $0.breaker = .init(failureRatio: 0.5, minimumCalls: 3, window: .seconds(10), pause: .seconds(30))
            $0.isWhole = false
        }
        return all
    }()

    /// The policies for tokens that expire.
    static let sessions: [FleetPolicy] = {
        guard let whole = ladder.first(where: \.isWhole) else { return [] }
        return [
            FleetPolicy(name: "no session"),
            FleetPolicy(name: "session", session: .opaque),
            FleetPolicy(name: "+ expiry", session: .expiring),
            FleetPolicy(copying: whole, name: "all but expiry", session: .opaque),
            FleetPolicy(copying: whole, name: "all", session: .expiring),
        ]
    }()

    /// The policies for event streams that have lost their server for a minute.
    static let streams: [FleetPolicy] = {
        var together = FleetPolicy(name: "at once")
        together.spreadsStreams = false
        var spread = FleetPolicy(name: "spread")
        spread.isWhole = true
        return [together, spread]
    }()

    private init(name: String, session: Session = .none) {
        self.name = name
        self.session = session
    }

    private init(copying other: FleetPolicy, name: String, session: Session = .none) {
        self = FleetPolicy(name: name, session: session)
        (retry, hasBudget, hasGate) = (other.retry, other.hasBudget, other.hasGate)
        (gateSpread, spreadsStreams) = (other.gateSpread, other.spreadsStreams)
        (breaker, isWhole) = (other.breaker, other.isWhole)
    }

    /// Returns for each outcome whether the retry policy sends the request again. The policy judges a `RequestFailure`,
    /// as in the library.
    func retriedOutcomes() async -> [Bool] {
        guard let url = URL(string: "https://fleet.example"), let retry else {
            return FleetAttempt.Outcome.allCases.map { _ in false }
        }
        let request = HTTPRequest(.get, url)
        var isRetried: [Bool] = []
        for outcome in FleetAttempt.Outcome.allCases {
            guard let error = outcome.error(for: request) else {
                isRetried.append(false)
                continue
            }
            let failure = RequestFailure(
                endpoint: AdHocEndpoint.get("fleet"), request: request, originalRequest: request,
                response: error.response, error: error)
            let result = await retry.result(of: failure, after: .init(), using: .system)
            if case .retry = result { isRetried.append(true) } else { isRetried.append(false) }
        }
        return isRetried
    }
}

extension FleetAttempt.Outcome {
    /// The status of the response. Nil if there was no response.
    var status: HTTPStatus? {
        switch self {
        case .ok: .ok
        case .unavailable: .serviceUnavailable
        case .unauthorized: .unauthorized
        case .none, .refused, .lost: nil
        }
    }

    /// The error of the library. Nil if the attempt succeeded.
    func error(for request: HTTPRequest) -> NetworkError? {
        switch self {
        case .none, .ok: nil
        case .refused: NetworkError(.cannotConnect, request: request)
        case .lost: NetworkError(.connectionLostBeforeHead, request: request)
        case .unavailable, .unauthorized:
            NetworkError(
                .unacceptableStatus, request: request, response: status.map { HTTPResponse($0, to: request) })
        }
    }

    /// What a circuit breaker concludes from the outcome.
    var circuitOutcome: CircuitMachine.Outcome {
        switch self {
        case .none: .neither
        case .refused: CircuitMachine.Outcome(NetworkError.Kind.cannotConnect)
        case .lost: CircuitMachine.Outcome(NetworkError.Kind.connectionLostBeforeHead)
        case .ok, .unavailable, .unauthorized: status.map { CircuitMachine.Outcome($0) } ?? .neither
        }
    }
}
