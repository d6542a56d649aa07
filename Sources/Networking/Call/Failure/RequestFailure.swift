public import Foundation

/// A failed attempt, with the information that an error handler may need.
public struct RequestFailure: Sendable {
    /// The endpoint of the call.
    public let endpoint: any Endpoint
    /// The request that was sent last, or ``originalRequest`` if none was sent; nil if no request could be created.
    public let request: HTTPRequest?
    /// The request as it was sent first, after adapters and before redirects; nil if no request was sent.
    public let adaptedRequest: HTTPRequest?
    /// The request before adapters; nil if no request could be created. To retry with a changed request, change a copy
    /// of this request.
    public let originalRequest: HTTPRequest?
    /// The response; nil if none was received.
    public let response: HTTPResponse?
    /// The error, after the changes of the earlier handlers.
    public internal(set) var error: any Error
    /// The number of the attempt, counted from 1.
    public let attempt: Int
    /// The date of the failure, by the service's clock.
    let date: Date
    /// The earlier failed attempts of this call, in order, each with the decisions about it.
    public let history: [RequestAttempt]
    /// The decisions about sending the request again, with their reasons, in order.
    public internal(set) var decisions: [RetryDecision] = []
    /// The error before any handler changed it.
    public let originalError: any Error
    /// The maximum number of attempts of the call, and the time until its deadline. The time is nil if the call has no
    /// deadline.
    var bounds: (attempts: Int, time: Duration?)?
    /// The JSON decoder of the call.
    var decoder: any BodyDecoder = JSONDecoder()
    /// The type of the server's error bodies; nil if the service declares no such type.
    var serverErrorType: (any (Decodable & Sendable).Type)?

    /// Creates a failure, for example to test a handler.
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

    /// Returns the failure of the same call with another error.
    func with(_ error: any Error, at date: Date) -> RequestFailure {
        var failure = RequestFailure(
            endpoint: endpoint, request: request, adaptedRequest: adaptedRequest, originalRequest: originalRequest,
            response: response, error: error, attempt: attempt, date: date, history: history)
        (failure.bounds, failure.decoder, failure.serverErrorType) = (bounds, decoder, serverErrorType)
        return failure
    }

    /// Whether sending the request again has the same effect as sending it once. This is true if the request before
    /// redirects and the last request each have an idempotent method (RFC 9110 section 9.2.2) or an `Idempotency-Key`.
    /// A POST that a redirect changed to GET is not safe to repeat. This property is also true if no server has
    /// processed the request: there was no connection, or the server refused the request
    /// (``NetworkError/Kind/notProcessed``). This property is also true for a resumable upload
    /// (``HTTPBody/resumable(_:)``), until the upload is complete.
    public var isSafeToRepeat: Bool {
        guard let request else { return false }
        if let upload = adaptedRequest?.parts.upload {
            if upload.goesOn { return true }
            if upload.isComplete { return false }
        }
        // After a response, the error may belong to another call, for example a call that the converter has made.
        if response == nil, let error = originalError as? NetworkError ?? networkError, error.isUnprocessed {
            return true
        }
        return [request, adaptedRequest ?? request].allSatisfy {
            $0.method.isIdempotent || $0.headers.contains(.idempotencyKey)
        }
    }

    /// Whether the server may have executed the request.
    private var mayHaveBeenExecuted: Bool {
        guard adaptedRequest != nil else { return false }
        if let status { return status.mayFollowExecution }
        return (originalError as? NetworkError ?? networkError)?.isUnsent != true
    }

    /// The status of the response, for every kind of error; nil if no response was received.
    public var status: HTTPStatus? { response?.status }

    /// The failure as a network error, even if an earlier handler has replaced it with another error; nil if it was
    /// never a network error.
    public var networkError: NetworkError? { error as? NetworkError ?? originalError as? NetworkError }

    /// Whether the call was ended by a cancellation, a reset, a shutdown or its deadline. No handler can change that.
    var isInterruption: Bool {
        switch (originalError as? NetworkError ?? networkError)?.kind {
        case .cancelled, .resetting, .deadlineTimedOut, .transportShutDown: true
        default: false
        }
    }

    /// Returns the reason why the request must not be sent again after a delay, even if a handler requests a retry; nil
    /// if the request may be sent again.
    func refusal(toRetryAfter delay: Duration, with replacement: HTTPRequest?) -> String? {
        if isInterruption { return "a cancellation, a reset, a shutdown or the deadline has ended the call" }
        if let bounds, attempt >= bounds.attempts {
            return "the maximum of \(bounds.attempts) attempts is reached (maximumAttempts)"
        }
        guard let next = replacement ?? originalRequest else { return "no request could be created" }
        if next.reportsDoubt, mayHaveBeenExecuted { return "the server may have executed the request" }
        // If no request was sent, the body has not been read, and even a body that is not replayable can be sent.
        guard next.body.isReplayable || adaptedRequest == nil else { return "the body cannot be sent a second time" }
        if let time = bounds?.time, delay > .zero, time <= delay {
            return "\(max(time, .zero).shortText) left before the deadline, the retry needs \(delay.shortText)"
        }
        return nil
    }

    /// The reason why the request is not safe to repeat, as a text.
    var unsafeReason: String {
        guard let request else { return "nothing was sent" }
        let unsafe = [adaptedRequest ?? request, request].first { !$0.method.isIdempotent } ?? request
        return "\(unsafe.method) without an idempotency key"
    }

    /// A short text of the error: `503 Service Unavailable`.
    var cause: String { networkError?.cause ?? "\(type(of: error))" }
}

extension RequestFailure: RedactedReflectable {
    /// The path, the method and the error, as in `<RequestFailure> from '/users/7' [GET]: 404 Not Found`, with
    /// backquotes around the path.
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
    /// The server's error, read as the type that the endpoint declares (``TypedEndpoint``, ``AdHocEndpoint``), or else
    /// as the type that the service declares. Nil if the status was accepted, if no type is declared, if the body has
    /// more than 64 KiB, or if the body cannot be read as the declared type.
    public var serverError: (any Sendable)? {
        guard let response, response.isReadable, networkError?.kind == .unacceptableStatus else { return nil }
        if let read = (endpoint as? AdHocEndpoint)?.serverError { return read(response, decoder) }
        if let endpoint = endpoint as? any TypedEndpoint, endpoint.declaresServerError {
            return endpoint.serverError(in: response, decoder: decoder)
        }
        return serverErrorType.flatMap { read($0) }
    }

    /// Reads the body of the response with the decoder of the call. Returns nil if no response was received, if its
    /// body has more than 64 KiB, or if it cannot be read as this type.
    public func read<Value: Decodable & Sendable>(_ type: Value.Type) -> Value? {
        guard let response, response.isReadable else { return nil }
        return try? ResponseConverter<Value>.automatic(decoder: decoder).reading.convertNow(response, decoder)
    }

    /// The problem details of the response (RFC 9457); nil if the response has none.
    var problem: ProblemDetails? { response?.problem }
}
