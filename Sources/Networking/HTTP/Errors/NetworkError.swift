public import Foundation

/// The error that a call throws if the app has not mapped it to another error. It contains the kind of the failure, the
/// request, the response and the underlying error.
///
/// ```swift
/// do {
///     profile = try await profiles.profile(7)
/// } catch let error as NetworkError where error.kind == .notConnected {
///     showOfflineBanner()
/// } catch let error as NetworkError {
///     log(error)                    // GET api.example.com/users/7: 503 Service Unavailable
/// }
/// ```
public struct NetworkError: Error {
    /// The kind of the failure.
    public var kind: Kind
    /// The reason as text; nil if the kind describes the failure sufficiently. The text never contains credentials or a
    /// body.
    public var reason: String?
    /// The request as it was sent, or as it was created if it was not sent; nil if no request could be created.
    public var request: HTTPRequest?
    /// The response; nil if no head was received.
    public var response: HTTPResponse?
    /// The underlying error; nil if there is none.
    public var underlying: (any Error)?
    /// The number of attempts. Default: 1.
    public var attempts = 1
    /// The reason why the request was not sent again; nil if no handler has decided about a retry.
    public var retryDecision: RetryDecision?
    /// The redirects before the failure, in order.
    public internal(set) var redirects: [HTTPResponse] = []
    /// The report of the call. The type of the report is defined in a higher layer. In that layer, the property
    /// `report` returns the report.
    var attachment: (any Sendable)?

    /// Creates an error with one attempt.
    public init(
        _ kind: Kind, reason: String? = nil, request: HTTPRequest? = nil, response: HTTPResponse? = nil,
        underlying: (any Error)? = nil
    ) {
        self.kind = kind
        self.reason = reason?.onOneLine
        self.request = request
        self.response = response
        self.underlying = underlying
    }

    /// The status of the response, for a failure of any kind; nil if no head was received.
    public var status: HTTPStatus? { response?.status }
}

extension NetworkError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// One line of text: the method, host and path, the reason, the number of attempts, and the reason why the request
    /// was not sent again. The text contains no query, no credentials and no body.
    public var description: String {
        let notes = [attempts > 1 ? "\(attempts) attempts" : nil, retryDecision?.description].compactMap { $0 }
        let text = notes.isEmpty ? cause : "\(cause) (\(notes.joined(separator: "; ")))"
        return (request.map { "\($0): \(text)" } ?? text).onOneLine
    }

    /// The ``description``, followed by the hint for the developer.
    public var debugDescription: String { hint.map { "\(description). \($0)" } ?? description }

    /// The reason why a body is cut off, as a text.
    var cutOffReason: String { reason ?? kind.explanation }

    /// A text about the failure for the user.
    public var errorDescription: String? {
        (kind == .noToken ? textsOfRefresh?.description : nil) ?? NetworkError.words[kind] ?? "The request failed."
    }

    /// Whether the request was not sent because nobody is logged in.
    var isLoggedOut: Bool { kind == .noToken && underlying?.isEndOfSession == true }

    /// Whether the request was not sent because the token could not be read or refreshed, although the session is not
    /// over.
    var isAboutRefresh: Bool { kind == .noToken && !isLoggedOut }

    /// The texts for the user if the underlying error comes from a refresh or from the token store, and the session
    /// continues. They replace the texts about logging in, because the user is still logged in. Nil if the session is
    /// over.
    var textsOfRefresh: (description: String, suggestion: String?)? {
        guard let underlying, !underlying.isEndOfSession else { return nil }
        guard let error = underlying.originalNetworkError,
            let description = error.textsOfRefresh?.description ?? NetworkError.words[error.kind]
        else { return ("The log-in cannot be checked at the moment.", "Try again later.") }
        return (description, error.recoverySuggestion)
    }

    /// Whether this error of a refresh means that the server refuses the refresh and that the session is over.
    var isRefusalOfRefresh: Bool {
        kind == .unacceptableStatus && [.badRequest, .unauthorized, .forbidden].contains(status)
    }

    private static let words: [Kind: String] = [
        .notConnected: "There is no internet connection.",
        .networkRestricted: "The app is not allowed to use the available network.",
        .cannotResolveHost: "The server cannot be reached.", .cannotConnect: "The server cannot be reached.",
        .connectionLostBeforeHead: "The connection was lost.", .connectionLostAfterHead: "The connection was lost.",
        .truncatedBody: "The connection was lost.", .webSocketClosed: "The connection was closed.",
        .connectTimedOut: "The request took too long.",
        .idleTimedOut: "The request took too long.", .deadlineTimedOut: "The request took too long.",
        .tlsUntrusted: "The connection is not secure.", .tlsFailed: "The connection is not secure.",
        .noToken: "You are not logged in.", .circuitOpen: "The server is not available at the moment.",
        .rateLimited: "The server accepts no more requests at the moment.",
        .notProcessed: "The server is not available at the moment.",
        .fileNotWritable: "The file cannot be saved.", .uploadRefused: "The upload cannot continue.",
        .cancelled: "The request was cancelled.",
    ]
}

extension NetworkError {
    /// Throws an error of kind ``Kind/invalidRequest`` unless a condition is true.
    static func require(_ isTrue: Bool, _ reason: @autoclosure () -> String) throws(NetworkError) {
        guard isTrue else { throw NetworkError(.invalidRequest, reason: reason()) }
    }

    static func responseTooLarge(limit: Int) -> NetworkError {
        NetworkError(.responseTooLarge, reason: "the response has more than \(limit) bytes")
    }

    static func idleTimedOut(after idle: Duration) -> NetworkError {
        NetworkError(.idleTimedOut, reason: "no bytes were transferred for \(idle.shortText)")
    }

    /// Returns the error for a failed read of the request's body.
    static func bodyUnreadable(_ error: any Error) -> NetworkError {
        if let error = error as? NetworkError { return error }
        return NetworkError(
            .bodyUnreadable, reason: "the request's body cannot be read: \(type(of: error))", underlying: error)
    }

    /// Returns the error itself if it is a ``NetworkError``; otherwise a ``NetworkError`` of the matching kind, with
    /// the error as its underlying error.
    static func wrapping(_ error: any Error) -> NetworkError {
        switch error {
        case let error as NetworkError: error
        case let interruption as Interruption: NetworkError(Kind(interruption), underlying: nil)
        case is CancellationError: NetworkError(.cancelled)
        case let error as URLError: NetworkError(Kind(error.code), underlying: error)
        // On Linux, every `NSError` can be cast to `CocoaError`.
        case let error as CocoaError where (error as NSError).domain == NSCocoaErrorDomain:
            NetworkError(.unknown, reason: error.reason, underlying: error)
        case _ where type(of: error) is NSError.Type:
            NetworkError(
                .unknown, reason: "\((error as NSError).domain) \((error as NSError).code)", underlying: error)
        // The reason is only the type, because the text of a foreign error may contain paths and secrets.
        default: NetworkError(.unknown, reason: "\(type(of: error))", underlying: error)
        }
    }

    /// Returns the error for use outside its call: calls `leavingCall()` on its request, response and redirects.
    func leavingCall() -> NetworkError {
        var error = self
        error.request = request?.leavingCall()
        error.response = response?.leavingCall()
        if !redirects.isEmpty { error.redirects = redirects.map { $0.leavingCall() } }
        return error
    }

    /// Returns the error with at most `limit` bytes of its response's body in memory.
    func keeping(bytes limit: Int) -> NetworkError {
        var error = self
        error.response = response?.keeping(bytes: limit)
        return error
    }

    /// Returns a copy of the error for the record of an attempt. The copy has no report and no bodies. The record
    /// itself contains the bodies.
    func keptWithoutBodies() -> NetworkError {
        var error = self
        error.request = request?.kept(bytes: 0)
        error.response = response?.kept(bytes: 0)
        error.redirects = redirects.map { $0.kept(bytes: 0) }
        error.underlying = underlying?.changingCause { $0 = $0.keptWithoutBodies() }
        error.attachment = nil
        return error
    }

    /// Returns the error. Adds the request and the response if the error does not have them yet.
    func completed(request: HTTPRequest?, response: HTTPResponse?) -> NetworkError {
        var error = self
        error.request = error.request ?? request
        error.response = error.response ?? response
        return error
    }
}

extension CocoaError {
    /// The code and the name of the file: `CocoaError 260 (session.json)`.
    fileprivate var reason: String {
        let url = (userInfo[NSURLErrorKey] as? URL).flatMap { $0.isFileURL ? $0 : nil }
        let path = userInfo[NSFilePathErrorKey] as? String ?? url?.path
        let name = path.map { " (\(URL(fileURLWithPath: $0).lastPathComponent))" } ?? ""
        return "CocoaError \(code.rawValue)\(name)"
    }
}

/// A decision about sending a failed request again, and its reason. The record of the attempt and the text of a
/// ``NetworkError`` contain the decision.
public struct RetryDecision: Hashable, Sendable {
    /// The delay before the next attempt; nil if the decision is not to send the request again.
    public let delay: Duration?
    /// The reason, such as `POST without an idempotency key`.
    public let reason: String

    static func retry(after delay: Duration, because reason: String) -> RetryDecision {
        RetryDecision(delay: delay, reason: reason)
    }

    static func noRetry(because reason: String) -> RetryDecision { RetryDecision(delay: nil, reason: reason) }
}

extension RetryDecision: CustomStringConvertible {
    /// A readable text: `not retried: POST without an idempotency key`, `retried after 0.2 s: 503 Service Unavailable`.
    public var description: String {
        guard let delay else { return "not retried: \(reason)".onOneLine }
        return (delay > .zero ? "retried after \(delay.shortText): \(reason)" : "retried: \(reason)").onOneLine
    }
}
