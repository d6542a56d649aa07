public import Foundation

/// What happened in a call: its attempts with what was decided about each, its waits, its redirects, how long
/// everything took.
///
/// Every ``Response`` has one, every ``NetworkError`` that ended a call, and the last event that an observer gets. Its
/// text and its `attributes` show no credentials; the requests and responses in ``attempts`` are as they were.
///
/// ```swift
/// let response = try await profiles.send(ProfileEndpoint.fetch(id: 7), as: .json(Profile.self))
/// print(response.report.waterfall)
/// ```
public struct CallReport: Sendable {
    /// Kept behind one reference, so that a response whose report is not read stays small.
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

    /// Makes a report.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the call.
    ///   - date: When it began, by the service's clock.
    ///   - earlier: The attempts before the last one.
    ///   - last: The last attempt.
    ///   - error: What the call ended with, after the error handlers; nil if it succeeded.
    ///   - duration: How long it took in all.
    package init(
        of endpoint: (any Endpoint)?, date: Date = Date(), earlier: [RequestAttempt] = [], last: RequestAttempt?,
        error: (any Error)? = nil, duration: Duration
    ) {
        storage = Storage(endpoint, date, earlier, last, error, duration)
    }

    /// The endpoint of the call; nil for a report that was made without one.
    public var endpoint: (any Endpoint)? { storage.endpoint }
    /// When it began, by the service's clock.
    public var date: Date { storage.date }
    /// How long it took in all.
    public var duration: Duration { storage.duration }
    /// What it ended with, after the error handlers; nil if it succeeded.
    public var error: (any Error)? { storage.error }
    /// Its attempts, the first one first; empty if it ended before one began.
    public var attempts: [RequestAttempt] { storage.last.map { storage.earlier + [$0] } ?? storage.earlier }

    /// The request as it was sent last; nil if none could be made.
    public var request: HTTPRequest? { lastAttempt?.request }
    /// The last response; nil if the last attempt had none.
    public var response: HTTPResponse? { lastAttempt?.response }
    /// The last status; nil if the last attempt had none.
    public var status: HTTPStatus? { response?.status }

    private var lastAttempt: RequestAttempt? { storage.last ?? storage.earlier.last }

    /// The waits between attempts, in order.
    package var waits: [Duration] {
        storage.earlier.compactMap { $0.decision?.delay }
    }
}

extension NetworkError {
    /// The report of the call that ended with this error; nil for an error that ended none, or not yet.
    public var report: CallReport? { attachment as? CallReport }
}

/// What a call that was answered keeps for its report, which is made when somebody asks for it.
struct CallRecord: Sendable {
    let call: any Endpoint
    let date: Date
    /// The attempts before the one that was answered.
    let earlier: [RequestAttempt]
    let number: Int
    /// When the call began, and the attempt; when that was handed over, and when all of it was over.
    let begun: Duration
    let attemptBegun: Duration
    let handedOver: Duration?
    let ended: Duration

    /// The attempt that brought the response.
    func attempt(with response: HTTPResponse) -> RequestAttempt {
        RequestAttempt(
            number: number, request: response.request, response: response.withoutStream, error: nil,
            start: attemptBegun - begun, queued: handedOver.map { $0 - attemptBegun }, duration: ended - attemptBegun)
    }

    /// The report of the call that ended with the response.
    func report(on response: HTTPResponse) -> CallReport {
        CallReport(of: call, date: date, earlier: earlier, last: attempt(with: response), duration: ended - begun)
    }
}
