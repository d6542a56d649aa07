import Foundation

/// Writes what a service does, a line an event, to wherever you want it: the console, a file, a logging library.
///
/// ```swift
/// let profiles = ProfileService(environment: environment) { $0.observers = [LogObserver { print($0) }] }
/// ```
///
/// Credentials, query values and bodies are not shown unless the ``Redaction`` lets them.
public struct LogObserver: RequestObserver {
    /// How important a line is.
    public enum Level: Comparable, Sendable {
        /// Each step of a call: attempts with fields and bodies, waits, redirects.
        case debug
        /// Each call, when it is over.
        case info
        /// A call that is retried.
        case warning
        /// A call that ended with an error.
        case error
    }

    /// A line.
    public struct Line: Sendable, CustomStringConvertible {
        /// How important it is.
        public let level: Level
        /// What happened, without level and call.
        public let message: String
        /// The call that it is about.
        public let call: RequestEvent.Call

        /// Level, the beginning of the call's id, and message: `info 3f2a91c0 GET api.example.com/users/7: 200 OK in
        /// 0.1 s`.
        public var description: String { "\(level) \(call.id.uuidString.prefix(8).lowercased()) \(message)" }
    }

    private let level: Level
    private let bodyLimit: Int
    private let redaction: Redaction
    private let write: @Sendable (Line) -> Void

    /// Makes an observer.
    ///
    /// - Parameters:
    ///   - level: The least important lines that are written.
    ///   - bodyLimit: How many bytes of a body are shown at most, where the redaction shows bodies; at level debug
    ///     only.
    ///   - redaction: What may be shown.
    ///   - write: Takes a line, on the thread of the call.
    public init(
        level: Level = .info, bodyLimit: Int = 1_024, redaction: Redaction = .standard,
        to write: @escaping @Sendable (Line) -> Void
    ) {
        self.level = level
        self.bodyLimit = bodyLimit
        self.redaction = redaction
        self.write = write
    }

    /// Writes a line, where the event is important enough.
    public func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
        let level = LogObserver.level(of: event)
        guard level >= self.level, let message = message(for: event) else { return }
        write(Line(level: level, message: message, call: call))
    }

    private static func level(of event: RequestEvent) -> Level {
        switch event {
        case .finished(let report): report.error == nil ? .info : .error
        case .waiting(.retry), .waiting(.connectivity): .warning
        default: .debug
        }
    }

    private func message(for event: RequestEvent) -> String? {
        switch event {
        case .started, .permitAcquired, .attemptStarted, .progress: nil
        case .waiting(let wait): describe(wait)
        case .adapted(let request): "-> \(text(of: request))"
        case .sent(let request): "sent \(request)"
        case .redirected(let response, let request): "\(response.status) leads to \(redaction.text(of: request.url))"
        case .head(let status, let headers): "<- \(status)\(text(of: headers))"
        case .attemptEnded(let attempt): text(of: attempt)
        case .finished(let report): text(of: report)
        }
    }

    private func describe(_ wait: RequestWait) -> String {
        switch wait {
        case .admission(let policy): "waits for its turn: \(policy)"
        case .retry(let delay, let decision): delay > .zero ? "waits \(delay.shortText): \(decision)" : "\(decision)"
        case .connectivity: "waits for a connection"
        case .paused: "waits until it is resumed"
        }
    }

    private func text(of request: HTTPRequest) -> String {
        let body = redaction.text(
            of: request.body.data ?? Data(), type: request.allHeaders.contentType, limit: bodyLimit)
        return "\(request.method) \(redaction.text(of: request.url))\(text(of: request.allHeaders))"
            + (body.isEmpty ? "" : "\n    \(body)")
    }

    private func text(of headers: HTTPHeaders) -> String {
        headers.map { "\n    \($0.name): \(redaction.value(of: $0))" }.joined()
    }

    private func text(of attempt: RequestAttempt) -> String {
        let body = redaction.text(
            of: attempt.response?.data ?? Data(), type: attempt.response?.headers.contentType, limit: bodyLimit)
        return "attempt \(attempt)\(body.isEmpty ? "" : "\n    \(body)")"
    }

    private func text(of report: CallReport) -> String {
        guard let error = report.error else { return report.description }
        if let error = error as? NetworkError { return "\(error) in \(report.duration.shortText)" }
        // The text of the app's own error may contain anything: its type, and the failure that it was made of.
        let last = report.attempts.last
        let decision = last?.decision.map { " (\($0))" } ?? ""
        let failure = (last?.error as? NetworkError).map { "\($0) in \(report.duration.shortText)" } ?? "\(report)"
        return "\(failure)\(decision), thrown as \(type(of: error))"
    }
}
