public import Foundation

/// A report of a call: its attempts and the decisions about them, its waits, its redirects and all durations.
///
/// These have a report: every ``Response``, every ``NetworkError`` that ended a call, and the last event of every call.
/// The text and the `attributes` of a report show no credentials; the requests and responses in ``attempts`` are not
/// redacted.
///
/// ```swift
/// let response = try await profiles.response(ProfileEndpoint.fetch(id: 7), as: .json(Profile.self))
/// print(response.report.waterfall)
/// ```
public struct CallReport: Sendable {
    private struct Parts: Sendable {
        let endpoint: (any Endpoint)?
        let date: Date
        let earlier: [RequestAttempt]
        let last: RequestAttempt?
        let error: (any Error)?
        let duration: Duration
    }

    /// The data is stored behind one reference, so that an error or event that contains a report stays small.
    private let parts: CopyOnWrite<Parts>

    /// Creates a report.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the call.
    ///   - date: The date when the call began, by the service's clock.
    ///   - earlier: The attempts before the last one.
    ///   - last: The last attempt.
    ///   - error: The error that the call ended with, after the error handlers; nil if the call succeeded.
    ///   - duration: The total duration of the call.
    package init(
        of endpoint: (any Endpoint)?, date: Date = Date(), earlier: [RequestAttempt] = [], last: RequestAttempt?,
        error: (any Error)? = nil, duration: Duration
    ) {
        parts = CopyOnWrite(
            Parts(endpoint: endpoint, date: date, earlier: earlier, last: last, error: error, duration: duration))
    }

    /// The endpoint of the call; nil for a report that was created without an endpoint.
    public var endpoint: (any Endpoint)? { parts.value.endpoint }
    /// The date when the call began, by the service's clock.
    public var date: Date { parts.value.date }
    /// The total duration of the call.
    public var duration: Duration { parts.value.duration }
    /// The error that the call ended with, after the error handlers; nil if the call succeeded.
    public var error: (any Error)? { parts.value.error }
    /// The attempts of the call, in order; empty if the call ended before the first attempt began.
    public var attempts: [RequestAttempt] { parts.value.last.map { parts.value.earlier + [$0] } ?? parts.value.earlier }

    /// The request of the last attempt; nil if no request could be created.
    public var request: HTTPRequest? { lastAttempt?.request }
    /// The response of the last attempt; nil if it received none.
    public var response: HTTPResponse? { lastAttempt?.response }
    /// The status of the last attempt; nil if it received no response.
    public var status: HTTPStatus? { response?.status }

    private var lastAttempt: RequestAttempt? { parts.value.last ?? parts.value.earlier.last }
}

extension NetworkError {
    /// The report of the call that ended with this error; nil if the error has not ended a call.
    public var report: CallReport? { attachment as? CallReport }
}

extension CallReport {
    /// What a call with a response stores for its report. The report is created only when it is needed.
    struct Draft: Sendable {
        let endpoint: any Endpoint
        let date: Date
        /// The attempts before the successful one.
        let earlier: [RequestAttempt]
        /// The time when the call began. The next three values are the times when the attempt began, when the transport
        /// got the request, and when the call ended.
        let begun: Duration
        let attemptBegun: Duration
        let handedOver: Duration?
        let ended: Duration
        /// The number of the token that the last request carried; nil if it carried none.
        let tokenGeneration: Int?

        /// The attempt that received the response; nil unless an event has reported this attempt.
        var reported: CopyOnWrite<RequestAttempt>?

        /// Returns the attempt that received the response, for an event.
        mutating func reportedAttempt(with response: HTTPResponse) -> RequestAttempt {
            let attempt = attempt(with: response)
            reported = CopyOnWrite(attempt)
            return attempt
        }

        /// Returns the attempt that received the response.
        private func attempt(with response: HTTPResponse) -> RequestAttempt {
            if let reported { return reported.value }
            return RequestAttempt(
                number: earlier.count + 1, request: response.request, response: response.withoutStream, error: nil,
                start: attemptBegun - begun, queued: handedOver.map { $0 - attemptBegun },
                duration: ended - attemptBegun, tokenGeneration: tokenGeneration)
        }

        /// Returns the report of the call that ended with the response.
        func report(on response: HTTPResponse) -> CallReport {
            let last = attempt(with: response)
            return CallReport(of: endpoint, date: date, earlier: earlier, last: last, duration: ended - begun)
        }
    }
}

/// One completed attempt of a call: its request, its response or error, and its durations.
public struct RequestAttempt: Sendable {
    /// The number of the attempt, counted from 1.
    public let number: Int
    /// The request as it was sent, after adapters and redirects; the request as it was created if nothing was sent; nil
    /// if no request could be created.
    public private(set) var request: HTTPRequest?
    /// The response; nil if none was received.
    public private(set) var response: HTTPResponse?
    /// The error before any error handler changes it; nil if the attempt succeeded.
    public private(set) var error: (any Error)?
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
    public package(set) var decisions: [RetryDecision]

    /// Creates an attempt.
    package init(
        number: Int, request: HTTPRequest?, response: HTTPResponse?, error: (any Error)?, start: Duration = .zero,
        queued: Duration? = nil, duration: Duration, decisions: [RetryDecision] = [], tokenGeneration: Int? = nil
    ) {
        self.number = number
        let left = response?.leavingCall()
        let isAnswered = request.map { response?.request.isCopy(of: $0) ?? false } ?? false
        self.request = isAnswered ? left?.request : request?.leavingCall()
        self.response = left
        self.tokenGeneration = tokenGeneration
        self.error = (error as? NetworkError)?.leavingCall() ?? error
        self.start = start
        self.queued = queued
        self.duration = duration
        self.decisions = decisions
    }

    /// The last decision about sending the request again; nil if no handler has decided.
    public var decision: RetryDecision? { decisions.last }

    /// Returns the attempt with at most `limit` bytes of its response's body in memory.
    func keeping(bytes limit: Int) -> RequestAttempt {
        var attempt = self
        attempt.response = response?.keeping(bytes: limit)
        attempt.error = (error as? NetworkError)?.keeping(bytes: limit) ?? error
        return attempt
    }

    /// Returns the attempt as a record keeps it: at most `limit` bytes of each body in memory.
    package func kept(bytes limit: Int) -> RequestAttempt {
        var attempt = self
        attempt.request = request?.kept(bytes: limit)
        attempt.response = response?.kept(bytes: limit)
        attempt.error = error?.kept
        return attempt
    }

    /// The redirects that were followed in the attempt, in order.
    package var redirects: [HTTPResponse] { response?.redirects ?? (error as? NetworkError)?.redirects ?? [] }
}

extension RequestAttempt: CustomStringConvertible {
    /// One line: `1: 503 Service Unavailable to GET api.example.com/users/7 (0.12 s)`. It contains no query, no
    /// credentials and no body.
    public var description: String {
        let outcome =
            response.map { response in "\(response)\(fault.map { ", \($0)" } ?? "")" }
            ?? (error as? NetworkError)?.description ?? fault ?? "no response"
        return "\(number): \(outcome) (\(duration.shortText))".onOneLine
    }

    /// The error, if the status does not show it.
    var fault: String? {
        guard let error else { return nil }
        guard let known = error as? NetworkError else { return error.typeName }
        return known.kind == .unacceptableStatus ? nil : known.kind.description
    }
}
