import Foundation

/// An observer that writes the events of a service as log lines to any destination: the console, a file or a logging
/// library.
///
/// ```swift
/// let profiles = ProfileService(environment: environment) { $0.observers = [LogObserver { print($0) }] }
/// ```
///
/// Credentials, query values and bodies are shown only if the ``Redaction`` allows them.
public struct LogObserver: RequestObserver {
    /// The importance of a line.
    public enum Level: Comparable, Sendable {
        /// Each step of a call: attempts with header fields and bodies, waits and redirects.
        case debug
        /// Each call when it is over.
        case info
        /// A call that is retried, or that waits for a connection.
        case warning
        /// A call that ended with an error.
        case error
    }

    /// One line of a log. Control characters, line separators and characters that change the direction of text are
    /// escaped, because a server can choose them.
    public struct Line: Sendable, CustomStringConvertible {
        /// The importance of the line.
        public let level: Level
        /// The text, without the level and the call.
        public let message: String
        /// The call that the line is about.
        public let call: RequestEvent.Call

        /// The level, the beginning of the call's id, and the message:
        /// `info 3f2a91c0 GET api.example.com/users/7: 200 OK in 0.1 s`.
        public var description: String { "\(level) \(call.id.uuidString.prefix(8).lowercased()) \(message)" }

        fileprivate init(_ level: Level, _ message: String, of call: RequestEvent.Call) {
            self.level = level
            self.message = message.onOneLine
            self.call = call
        }
    }

    private let level: Level
    private let bodyLimit: Int
    private let redaction: Redaction
    private let write: @Sendable (Line) -> Void

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - level: The lowest level of the lines that are written. Default: info.
    ///   - bodyLimit: The maximum number of bytes that are shown of a body. Bodies are shown only at level debug, and
    ///     only if the redaction shows them. Default: 1,024.
    ///   - redaction: Determines what is shown. Default: ``Redaction/standard``.
    ///   - write: The closure (`to:`) that receives each line, on the thread that reports the event.
    public init(
        level: Level = .info, bodyLimit: Int = 1_024, redaction: Redaction = .standard,
        to write: @escaping @Sendable (Line) -> Void
    ) {
        self.level = level
        self.bodyLimit = bodyLimit
        self.redaction = redaction
        self.write = write
    }

    /// Writes the lines of an event if the level of the event is high enough. Most events have one line. If an event
    /// has header fields or a body, an additional line is written for each field and for the body.
    public func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
        let level = LogObserver.level(of: event)
        guard level >= self.level else { return }
        for message in messages(for: event, of: call) { write(Line(level, message, of: call)) }
    }

    private static func level(of event: RequestEvent) -> Level {
        switch event {
        case .finished(let report): report.error == nil ? .info : .error
        case .waiting(.retry), .waiting(.connectivity): .warning
        default: .debug
        }
    }

    private func messages(for event: RequestEvent, of call: RequestEvent.Call) -> [String] {
        switch event {
        case .started, .permitAcquired, .attemptStarted, .progress: []
        case .waiting(let wait): ["\(call.endpoint.method) \(call.endpoint.urlTemplate): \(describe(wait))"]
        case .adapted(let request):
            ["-> \(request.method) \(redaction.text(of: request.url))"] + texts(of: request.allHeaders)
                + text(of: request.body.data, request.allHeaders.contentType)
        case .sent(let request): ["sent \(request)"]
        case .redirected(let response, let request):
            ["\(response.status) redirects to \(redaction.text(of: request.url))"]
        case .head(let status, let headers): ["<- \(status)"] + texts(of: headers)
        case .attemptEnded(let attempt):
            ["attempt \(attempt)"] + text(of: attempt.response?.data, attempt.response?.headers.contentType)
        case .finished(let report): [text(of: report)]
        case .messageSent(let message, _): ["-> \(message)"] + text(of: message.data, nil)
        case .messageReceived(let message, _): ["<- \(message)"] + text(of: message.data, nil)
        }
    }

    private func describe(_ wait: RequestWait) -> String {
        switch wait {
        case .admission(let policy): "waits for admission: \(policy)"
        case .retry(let delay, let decision): delay > .zero ? "waits \(delay.shortText): \(decision)" : "\(decision)"
        case .connectivity: "waits for a connection"
        case .paused: "waits until it is resumed"
        }
    }

    private func texts(of headers: HTTPHeaders) -> [String] {
        headers.map { "    \($0.name): \(redaction.value(of: $0))" }
    }

    /// Returns the line of a body; empty if there is no body.
    private func text(of body: Data?, _ type: MediaType?) -> [String] {
        let text = redaction.text(of: body ?? Data(), type: type, limit: bodyLimit)
        return text.isEmpty ? [] : ["    \(text)"]
    }

    private func text(of report: CallReport) -> String {
        guard let error = report.error else { return report.description }
        if let error = error as? NetworkError { return "\(error) in \(report.duration.shortText)" }
        // The text of an error that the app defines may contain anything. Therefore only the type of the error and the
        // original failure are shown.
        let last = report.attempts.last
        let decision = last?.decision.map { " (\($0))" } ?? ""
        let failure = (last?.error as? NetworkError).map { "\($0) in \(report.duration.shortText)" } ?? "\(report)"
        return "\(failure)\(decision), thrown as \(type(of: error))"
    }
}
