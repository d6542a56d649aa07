public import Foundation

/// A report of a call: its attempts and the decisions about them, its waits, its redirects and all durations.
///
/// Every ``Response``, every ``NetworkError`` that ended a call, and the last event of every call have a report. The
/// text and the `attributes` of a report show no credentials; the requests and responses in ``attempts`` are not
/// redacted.
///
/// ```swift
/// let response = try await profiles.send(ProfileEndpoint.fetch(id: 7), as: .json(Profile.self))
/// print(response.report.waterfall)
/// ```
public struct CallReport: Sendable {
    /// The data is stored behind one reference, so that an error or event that contains a report stays small.
    private final class Storage: Sendable {
        let endpoint: (any Endpoint)?
        let date: Date
        let earlier: [RequestAttempt]
        let last: RequestAttempt?
        let error: (any Error)?
        let duration: Duration

        init(
            _ endpoint: (any Endpoint)?, _ date: Date, _ earlier: [RequestAttempt], _ last: RequestAttempt?,
            _ error: (any Error)?, _ duration: Duration
        ) {
            self.endpoint = endpoint
            self.date = date
            self.earlier = earlier
            self.last = last
            self.error = error
            self.duration = duration
        }
    }

    private let storage: Storage

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
        storage = Storage(endpoint, date, earlier, last, error, duration)
    }

    /// The endpoint of the call; nil for a report that was created without an endpoint.
    public var endpoint: (any Endpoint)? { storage.endpoint }
    /// The date when the call began, by the service's clock.
    public var date: Date { storage.date }
    /// The total duration of the call.
    public var duration: Duration { storage.duration }
    /// The error that the call ended with, after the error handlers; nil if the call succeeded.
    public var error: (any Error)? { storage.error }
    /// The attempts of the call, in order; empty if the call ended before the first attempt began.
    public var attempts: [RequestAttempt] { storage.last.map { storage.earlier + [$0] } ?? storage.earlier }

    /// The request of the last attempt; nil if no request could be created.
    public var request: HTTPRequest? { lastAttempt?.request }
    /// The response of the last attempt; nil if it received none.
    public var response: HTTPResponse? { lastAttempt?.response }
    /// The status of the last attempt; nil if it received no response.
    public var status: HTTPStatus? { response?.status }

    private var lastAttempt: RequestAttempt? { storage.last ?? storage.earlier.last }

    /// The waits between attempts, in order.
    package var waits: [Duration] {
        storage.earlier.compactMap { $0.decision?.delay }
    }
}

extension NetworkError {
    /// The report of the call that ended with this error; nil if the error has not ended a call.
    public var report: CallReport? { attachment as? CallReport }
}

/// The data that a call with a response stores for its report. The report is created when it is read.
struct CallRecord: Sendable {
    let call: any Endpoint
    let date: Date
    /// The attempts before the successful one.
    let earlier: [RequestAttempt]
    let number: Int
    /// The time when the call began. The next three values are the times when the attempt began, when it was handed to
    /// the transport, and when the call ended.
    let begun: Duration
    let attemptBegun: Duration
    let handedOver: Duration?
    let ended: Duration
    /// The number of the token that the last request carried; nil if it carried none.
    let tokenGeneration: Int?

    /// Returns the attempt that received the response.
    func attempt(with response: HTTPResponse) -> RequestAttempt {
        RequestAttempt(
            number: number, request: response.request, response: response.withoutStream, error: nil,
            start: attemptBegun - begun, queued: handedOver.map { $0 - attemptBegun }, duration: ended - attemptBegun,
            tokenGeneration: tokenGeneration)
    }

    /// Returns the report of the call that ended with the response.
    func report(on response: HTTPResponse) -> CallReport {
        CallReport(of: call, date: date, earlier: earlier, last: attempt(with: response), duration: ended - begun)
    }
}
