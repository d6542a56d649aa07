public import Foundation

/// What a call throws if nothing has mapped the failure: what kind it is, what was sent, what came back, what lies
/// beneath.
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
    /// What kind of failure it is.
    public var kind: Kind
    /// The reason in words, if the kind does not say all. Never a credential, never a body's text.
    public var reason: String?
    /// The request as it was sent; nil if none could be made.
    public var request: HTTPRequest?
    /// The response; nil if no head was received.
    public var response: HTTPResponse?
    /// The error beneath.
    public var underlying: (any Error)?
    /// How often the request was tried.
    public var attempts = 1
    /// Why it was not sent again; nil if no handler has considered it.
    public var retryDecision: RetryDecision?
    /// The redirects before it failed, the first one first.
    public internal(set) var redirects: [HTTPResponse] = []
    /// The call's report, a type of a higher layer, which reads it as `report`.
    var attachment: (any Sendable)?

    /// Makes an error.
    public init(
        _ kind: Kind, reason: String? = nil, request: HTTPRequest? = nil, response: HTTPResponse? = nil,
        underlying: (any Error)? = nil
    ) {
        self.kind = kind
        self.reason = reason
        self.request = request
        self.response = response
        self.underlying = underlying
    }

    /// The status that came back, whatever the failure.
    public var status: HTTPStatus? { response?.status }
}

extension NetworkError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// One line: method, host and path, the reason, how often it was tried and why no more. Neither query,
    /// credentials nor body.
    public var description: String {
        let notes = [attempts > 1 ? "\(attempts) attempts" : nil, retryDecision?.description].compactMap { $0 }
        let text = notes.isEmpty ? cause : "\(cause) (\(notes.joined(separator: "; ")))"
        return request.map { "\($0): \(text)" } ?? text
    }

    /// The same line, with the hint.
    public var debugDescription: String { hint.map { "\(description). \($0)" } ?? description }

    /// The failure in words for the person with the phone.
    public var errorDescription: String? { NetworkError.words[kind] ?? "The request failed." }

    private static let words: [Kind: String] = [
        .notConnected: "There is no internet connection.",
        .networkRestricted: "The network that is connected may not be used.",
        .cannotResolveHost: "The server cannot be reached.", .cannotConnect: "The server cannot be reached.",
        .connectionLostBeforeHead: "The connection was lost.", .connectionLostAfterHead: "The connection was lost.",
        .truncatedBody: "The connection was lost.", .connectTimedOut: "The request took too long.",
        .idleTimedOut: "The request took too long.", .deadlineTimedOut: "The request took too long.",
        .tlsUntrusted: "The connection is not secure.", .tlsFailed: "The connection is not secure.",
        .noToken: "You are not logged in.", .circuitOpen: "The server is not available at the moment.",
        .fileNotWritable: "The file cannot be saved.", .cancelled: "The request was cancelled.",
    ]
}

extension NetworkError {
    static func responseTooLarge(limit: Int) -> NetworkError {
        NetworkError(.responseTooLarge, reason: "the response has more than \(limit) bytes")
    }

    static func idleTimedOut(after idle: Duration) -> NetworkError {
        NetworkError(.idleTimedOut, reason: "nothing moved for \(idle.shortText)")
    }

    /// The request body's own fault, found while it was read.
    static func bodyUnreadable(_ error: any Error) -> NetworkError {
        if let error = error as? NetworkError { return error }
        return NetworkError(
            .bodyUnreadable, reason: "the request's body cannot be read: \(type(of: error))", underlying: error)
    }

    /// The error itself where it is a network error; otherwise one of its kind with it underlying.
    static func wrapping(_ error: any Error) -> NetworkError {
        switch error {
        case let error as NetworkError: error
        case let interruption as Interruption: NetworkError(Kind(interruption), underlying: nil)
        case is CancellationError: NetworkError(.cancelled)
        case let error as URLError: NetworkError(Kind(error.code), underlying: error)
        case let error as CocoaError: NetworkError(.unknown, reason: error.reason, underlying: error)
        // Its type and no more: an error of somebody else's may tell paths and secrets. It is underlying.
        default: NetworkError(.unknown, reason: "\(type(of: error))", underlying: error)
        }
    }

    /// Fills in what is not there yet.
    func completed(request: HTTPRequest?, response: HTTPResponse?) -> NetworkError {
        var error = self
        error.request = error.request ?? request
        error.response = error.response ?? response
        return error
    }
}

extension CocoaError {
    /// The code, and the name of the file that it is about: `CocoaError 260 (session.json)`.
    fileprivate var reason: String {
        let url = (userInfo[NSURLErrorKey] as? URL).flatMap { $0.isFileURL ? $0 : nil }
        let path = userInfo[NSFilePathErrorKey] as? String ?? url?.path
        let name = path.map { " (\(URL(fileURLWithPath: $0).lastPathComponent))" } ?? ""
        return "CocoaError \(code.rawValue)\(name)"
    }
}
