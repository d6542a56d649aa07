import Foundation

/// One completed attempt of a call: its request, its response or error, and its durations.
public struct RequestAttempt: Sendable {
    /// The number of the attempt, counted from 1.
    public let number: Int
    /// The request as it was sent, after adapters and redirects; the request as it was created if nothing was sent; nil
    /// if no request could be created.
    public let request: HTTPRequest?
    /// The response; nil if none was received.
    public let response: HTTPResponse?
    /// The error before any error handler changes it; nil if the attempt succeeded.
    public let error: (any Error)?
    /// The time from the start of the call to the start of the attempt.
    public let start: Duration
    /// The time to get a permit and a token and to run the adapters; nil if the attempt ended before the transport got
    /// the request.
    public let queued: Duration?
    /// The time from the start to the end of the attempt, including the wait for a permit.
    public let duration: Duration
    /// The number of the token that the request carried, counted from 0 for the first token of the session; nil if the
    /// request carried no token.
    let tokenGeneration: Int?
    /// The decisions of the error handlers about sending the request again, with their reasons, in order; empty before
    /// the handlers have decided.
    var decisions: [RetryDecision]

    /// Creates an attempt.
    package init(
        number: Int, request: HTTPRequest?, response: HTTPResponse?, error: (any Error)?, start: Duration = .zero,
        queued: Duration? = nil, duration: Duration, decisions: [RetryDecision] = [], tokenGeneration: Int? = nil
    ) {
        self.number = number
        self.request = request?.leavingCall()
        self.response = response?.leavingCall()
        self.tokenGeneration = tokenGeneration
        self.error = (error as? NetworkError)?.leavingCall() ?? error
        self.start = start
        self.queued = queued
        self.duration = duration
        self.decisions = decisions
    }

    /// The last decision about sending the request again; nil if no handler has decided.
    public var decision: RetryDecision? { decisions.last }

    /// The redirects that were followed in the attempt, in order.
    package var redirects: [HTTPResponse] { response?.redirects ?? (error as? NetworkError)?.redirects ?? [] }
}

extension RequestAttempt: CustomStringConvertible {
    /// One line: `1: 503 Service Unavailable to GET api.example.com/users/7 (0.12 s)`. It contains no query, no
    /// credentials and no body.
    public var description: String {
        let known = error as? NetworkError
        let fault =
            known.map { $0.kind == .unacceptableStatus ? nil : $0.kind.description } ?? error.map { "\(type(of: $0))" }
        let outcome =
            response.map { response in "\(response)\(fault.map { ", \($0)" } ?? "")" } ?? known?.description ?? fault
            ?? "no response"
        return "\(number): \(outcome) (\(duration.shortText))"
    }
}
