/// One attempt of a call, when it is over: what was sent, what came back, how long it took.
public struct RequestAttempt: Sendable {
    /// Its number, counted from 1.
    public let number: Int
    /// The request as it was sent, after adapters and redirects; as it was made, where nothing was sent; nil if none
    /// could be made.
    public let request: HTTPRequest?
    /// The response, where one came.
    public let response: HTTPResponse?
    /// What went wrong, before any error handler; nil if nothing did.
    public let error: (any Error)?
    /// When it began, counted from the beginning of the call.
    public let start: Duration
    /// The time it took to get a permit and a token and to run the adapters; nil if the attempt ended before the
    /// transport got the request.
    public let queued: Duration?
    /// The time from its beginning to its end, with the wait for a permit.
    public let duration: Duration
    /// What the error handlers decided about sending the request again, and why, the first decision first; empty until
    /// they have.
    var decisions: [RetryDecision]

    /// Makes an attempt.
    package init(
        number: Int, request: HTTPRequest?, response: HTTPResponse?, error: (any Error)?, start: Duration = .zero,
        queued: Duration? = nil, duration: Duration, decisions: [RetryDecision] = []
    ) {
        self.number = number
        self.request = request
        self.response = response
        self.error = error
        self.start = start
        self.queued = queued
        self.duration = duration
        self.decisions = decisions
    }

    /// What was decided last about sending the request again; nil if no handler decided anything.
    public var decision: RetryDecision? { decisions.last }

    /// The redirects that were followed on the way, the first one first.
    package var redirects: [HTTPResponse] { response?.redirects ?? (error as? NetworkError)?.redirects ?? [] }

    /// Which token the request carried, counted from 0 for the one that its session began with; nil if it carried
    /// none of a session's.
    var tokenGeneration: Int? { request?[option: CarriedTokenOption.self]?.generation }
}

extension RequestAttempt: CustomStringConvertible {
    /// One line: `1: 503 Service Unavailable to GET api.example.com/users/7 (0.12 s)`. Neither query, credentials nor
    /// body.
    public var description: String {
        let known = error as? NetworkError
        let fault =
            known.map { $0.kind == .unacceptableStatus ? nil : $0.kind.description } ?? error.map { "\(type(of: $0))" }
        let outcome =
            response.map { response in "\(response)\(fault.map { ", \($0)" } ?? "")" } ?? known?.description ?? fault
            ?? "no answer"
        return "\(number): \(outcome) (\(duration.shortText))"
    }
}

/// The token that a request carries, without the token itself, which only its session knows.
protocol CarriedToken: AnyObject, Sendable {
    /// Which one of its session's tokens it is, counted from 0.
    var generation: Int { get }
    /// The statuses that refuse it. They fail a request before any validator is asked, so that such a response is never
    /// taken for a result.
    var refusedStatuses: Set<HTTPStatus> { get }
}

/// The token that a request carries; nil if it carries none of a session's.
enum CarriedTokenOption: HTTPRequest.Option {
    /// None.
    static var defaultValue: (any CarriedToken)? { nil }
    /// True: it stays behind with the token.
    static var isSensitive: Bool { true }
}
