/// One attempt of a call, when it is over: what was sent, what came back, how long it took.
public struct RequestAttempt: Sendable {
    /// Its number, counted from 1.
    public let number: Int
    /// The request as it was sent, after adapters and redirects; as it was made, where nothing was sent; nil where none could be made.
    public let request: HTTPRequest?
    /// The response, where one came.
    public let response: HTTPResponse?
    /// What went wrong, before any error handler; nil where nothing did.
    public let error: (any Error)?
    /// How long it took, from its beginning to here, with its wait for a place.
    public let duration: Duration

    /// Makes an attempt.
    public init(number: Int, request: HTTPRequest?, response: HTTPResponse?, error: (any Error)?, duration: Duration) {
        self.number = number
        self.request = request
        self.response = response
        self.error = error
        self.duration = duration
    }
}

extension RequestAttempt: CustomStringConvertible {
    /// One line: `1: 503 Service Unavailable to GET api.example.com/users/7 (0.12 seconds)`. Neither query, credentials nor body.
    public var description: String {
        let outcome =
            response?.description ?? (error as? NetworkError)?.description ?? error.map { "\(type(of: $0))" }
            ?? "no answer"
        return "\(number): \(outcome) (\(duration.words))"
    }
}
