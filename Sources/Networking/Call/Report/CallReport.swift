public import Foundation

/// What a call is named after in reports: an endpoint is.
public protocol RequestDescribing: Sendable {
    /// The path with a placeholder for each of its values, `/users/{}`, so that calls of one kind can be counted
    /// together: the `url.template` of OpenTelemetry.
    var urlTemplate: String { get }
}

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
        let call: (any RequestDescribing)?
        let date: Date
        let earlier: [RequestAttempt]
        let last: RequestAttempt?
        let error: (any Error)?
        let duration: Duration

        init(
            _ call: (any RequestDescribing)?, _ date: Date, _ earlier: [RequestAttempt], _ last: RequestAttempt?,
            _ error: (any Error)?, _ duration: Duration
        ) {
            self.call = call
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
    ///   - call: What the call is named after; an endpoint.
    ///   - date: When it began, by the service's clock.
    ///   - earlier: The attempts before the last one.
    ///   - last: The last attempt.
    ///   - error: What the call ended with, after the error handlers; nil if it succeeded.
    ///   - duration: How long it took in all.
    public init(
        of call: (any RequestDescribing)?, date: Date = Date(), earlier: [RequestAttempt] = [], last: RequestAttempt?,
        error: (any Error)? = nil, duration: Duration
    ) {
        storage = Storage(call, date, earlier, last, error, duration)
    }

    /// What the call is named after: its endpoint.
    public var call: (any RequestDescribing)? { storage.call }
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
    public var waits: [Duration] {
        storage.earlier.compactMap { attempt in
            if case .retry(let delay) = attempt.decision?.verdict { delay } else { nil }
        }
    }
}

extension NetworkError {
    /// The report of the call that ended with this error; nil for an error that ended none, or not yet.
    public var report: CallReport? { attachment as? CallReport }
}

/// What a call that was answered keeps for its report, which is made when somebody asks for it.
struct CallRecord: Sendable {
    let call: any RequestDescribing
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
