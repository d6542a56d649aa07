/// An attempt in progress.
struct Attempt: Sendable {
    let number: Int
    /// The time at which the attempt began, on the call's clock.
    let begun: Duration
    /// The adapted request that was handed to the transport; nil before that.
    var adapted: HTTPRequest?
    /// The time at which the request was handed to the transport; nil before that.
    var handedOver: Duration?
    /// The response; only its head if the body was lost.
    var response: HTTPResponse?
    /// The request of the error that ended the attempt. Redirects may have changed it.
    private var failed: HTTPRequest?

    init(number: Int, begun: Duration) {
        self.number = number
        self.begun = begun
    }

    /// The request that was sent last, after redirects; nil if no request was sent.
    var sent: HTTPRequest? { failed ?? response?.request ?? adapted }

    mutating func note(_ error: NetworkError) {
        guard adapted != nil else { return }
        failed = error.request
        response = response ?? error.response
    }

    func ended(
        with error: any Error, of original: HTTPRequest?, at now: Duration, since start: Duration
    ) -> RequestAttempt {
        RequestAttempt(
            number: number, request: sent ?? original, response: response?.withoutStream, error: error,
            start: begun - start, queued: handedOver.map { $0 - begun }, duration: now - begun,
            tokenGeneration: (sent ?? original)?.tokenGeneration)
    }
}
