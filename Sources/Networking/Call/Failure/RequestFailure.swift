public import Foundation

/// A failed attempt: everything that an error handler may want to know.
public struct RequestFailure: Sendable {
    /// The endpoint of the call.
    public let endpoint: any Endpoint
    /// The request as it was sent, after adapters and redirects; nil if none could be made.
    public let request: HTTPRequest?
    /// The request as it was sent first, after adapters and before redirects; nil if none was sent.
    public let adaptedRequest: HTTPRequest?
    /// The request as it was before adapters; nil if none could be made. Change this one to retry with a changed
    /// request.
    public let originalRequest: HTTPRequest?
    /// The response, where one came.
    public let response: HTTPResponse?
    /// What went wrong, as the handlers before left it.
    public internal(set) var error: any Error
    /// The number of the attempt, counted from 1.
    public let attempt: Int
    /// When it failed, by the service's clock.
    let date: Date
    /// The attempts of this call that failed before, the first one first, each with what was decided about it.
    public let history: [RequestAttempt]
    /// What has been decided about sending it again, and why, the first decision first.
    public internal(set) var decisions: [RetryDecision] = []
    /// The error as it was before any handler.
    public let originalError: any Error
    /// How many attempts the call may make, and how much time it has left; nil if nothing bounds it.
    var bounds: (attempts: Int, time: Duration?)?
    /// The JSON decoder that holds for the call.
    var decoder = JSONDecoder()

    /// Makes a failure; useful to test a handler.
    public init(
        endpoint: any Endpoint, request: HTTPRequest? = nil, adaptedRequest: HTTPRequest? = nil,
        originalRequest: HTTPRequest? = nil, response: HTTPResponse? = nil, error: any Error, attempt: Int = 1,
        date: Date = Date(), history: [RequestAttempt] = []
    ) {
        self.endpoint = endpoint
        self.request = request
        self.adaptedRequest = adaptedRequest ?? request
        self.originalRequest = originalRequest
        self.response = response
        self.error = error
        self.originalError = error
        self.attempt = attempt
        self.date = date
        self.history = history
    }

    /// Whether sending it again means what sending it once means: each request of the attempt, the one before redirects
    /// and the last one, has an idempotent method (RFC 9110 section 9.2.2) or an `Idempotency-Key`. A POST that a
    /// redirect turned into a GET is not.
    public var isSafeToRepeat: Bool {
        guard let request else { return false }
        return [request, adaptedRequest ?? request].allSatisfy {
            $0.method.isIdempotent || $0.headers.contains(.idempotencyKey)
        }
    }

    /// The status that came back, whatever went wrong.
    public var status: HTTPStatus? { response?.status }

    /// The failure as a network error, also where a handler before has made another error of it; nil if it never was
    /// one.
    public var networkError: NetworkError? { error as? NetworkError ?? originalError as? NetworkError }

    /// Whether the call was ended from outside, so that no handler can change that.
    var isInterruption: Bool {
        switch (originalError as? NetworkError ?? networkError)?.kind {
        case .cancelled, .resetting, .deadlineTimedOut: true
        default: false
        }
    }

    /// Why the call may not be sent again after a wait, whatever a handler wants; nil if it may.
    func refusal(toRetryAfter delay: Duration, with replacement: HTTPRequest?) -> String? {
        if isInterruption { return "the call was ended" }
        if let bounds, attempt >= bounds.attempts { return "\(bounds.attempts) attempts are the most" }
        guard let next = replacement ?? originalRequest else { return "there is no request" }
        // A body that was never opened, because the attempt ended before it was sent, can be.
        guard next.body.isReplayable || adaptedRequest == nil else { return "its body cannot be sent a second time" }
        if let time = bounds?.time, delay > .zero, time <= delay {
            return "the wait of \(delay.shortText) would not end before the call's deadline"
        }
        return nil
    }

    /// Why it is not safe to repeat, in words.
    var unsafeReason: String {
        guard let request else { return "nothing was sent" }
        let unsafe = [adaptedRequest ?? request, request].first { !$0.method.isIdempotent } ?? request
        return "\(unsafe.method) without an idempotency key"
    }

    /// What happened, in a few words: `503 Service Unavailable`.
    var cause: String { networkError?.cause ?? "\(type(of: error))" }
}

extension RequestFailure: RedactedReflectable {
    /// Path, method and error, as in `<RequestFailure> from '/users/7' [GET]: 404 Not Found`, with backquotes around
    /// the path.
    var redactedDescription: String {
        let place =
            request.map { "`\($0.url.path(percentEncoded: true))` [\($0.method)]" }
            ?? "`\(type(of: endpoint))` [not sent]"
        guard let kind = networkError?.kind else { return "<RequestFailure> from \(place): \(type(of: error))" }
        let words = kind == .unacceptableStatus ? status?.description ?? kind.explanation : kind.explanation
        return "<RequestFailure> from \(place): \(([words] + decisions.map(\.description)).joined(separator: "; "))"
    }
}

extension RequestFailure {
    /// The server's error, decoded by the endpoint (``TypedEndpoint``, ``AdHocEndpoint``); nil if the status was
    /// accepted, the endpoint has no server error, or the body cannot be read as one.
    public var serverError: (any Sendable)? {
        guard let response, networkError?.kind == .unacceptableStatus else { return nil }
        if let call = endpoint as? AdHocEndpoint { return call.serverError?(response, decoder) }
        return (endpoint as? any TypedEndpoint)?.serverError(in: response, decoder: decoder)
    }

    /// The problem details of the response (RFC 9457); nil if it has none.
    var problem: ProblemDetails? { response?.problem }
}
