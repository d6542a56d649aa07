import Foundation

/// A failed attempt: everything that an error handler may want to know.
public struct RequestFailure: Sendable {
    /// The endpoint of the call.
    public let endpoint: any Endpoint
    /// The request as it was sent, after adapters and redirects; nil where none could be made.
    public let request: HTTPRequest?
    /// The request as it was sent first, after adapters and before redirects; nil where none was sent.
    public let adaptedRequest: HTTPRequest?
    /// The request as it was before adapters; nil where none could be made. Change this one to retry with a changed request.
    public let originalRequest: HTTPRequest?
    /// The response, where one came.
    public let response: HTTPResponse?
    /// What went wrong, as the handlers before left it.
    public internal(set) var error: any Error
    /// The number of the attempt, counted from 1.
    public let attempt: Int
    /// The attempts of this call that failed before, the first one first.
    public let earlierFailures: [RequestFailure]

    /// Makes a failure; useful to test a handler.
    public init(
        endpoint: any Endpoint, request: HTTPRequest? = nil, adaptedRequest: HTTPRequest? = nil,
        originalRequest: HTTPRequest? = nil, response: HTTPResponse? = nil, error: any Error, attempt: Int = 1,
        earlierFailures: [RequestFailure] = []
    ) {
        self.endpoint = endpoint
        self.request = request
        self.adaptedRequest = adaptedRequest ?? request
        self.originalRequest = originalRequest
        self.response = response
        self.error = error
        self.attempt = attempt
        self.earlierFailures = earlierFailures
    }

    /// Whether sending it again means what sending it once means: each request of the attempt, the one before redirects and the last
    /// one, has an idempotent method (RFC 9110 section 9.2.2) or an `Idempotency-Key`. A POST that a redirect turned into a GET is not.
    public var isSafeToRepeat: Bool {
        guard let request else { return false }
        return [request, adaptedRequest ?? request].allSatisfy {
            $0.method.isIdempotent || $0.headers.contains(.idempotencyKey)
        }
    }

    /// The status that came back, whatever went wrong.
    public var status: HTTPStatus? { response?.status }

    /// The error as a network error, where it is one.
    public var networkError: NetworkError? { error as? NetworkError }
}

extension RequestFailure: CustomStringConvertible {
    /// Path, method and error: ``<RequestFailure> from `/users/7` [GET]: 404 Not Found``.
    public var description: String {
        let place =
            request.map { "`\($0.url.path(percentEncoded: true))` [\($0.method)]" }
            ?? "`\(type(of: endpoint))` [not sent]"
        return "<RequestFailure> from \(place): \(cause)"
    }

    private var cause: String {
        guard let kind = networkError?.kind else { return "\(type(of: error))" }
        return kind == .unacceptableStatus ? status?.description ?? kind.explanation : kind.explanation
    }
}
