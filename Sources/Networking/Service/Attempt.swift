/// An attempt that is under way.
struct Attempt: Sendable {
    let number: Int
    /// When it began, by the call's clock.
    let begun: Duration
    /// The request as it was handed to the transport; nil before.
    var adapted: HTTPRequest?
    /// When that was.
    var handedOver: Duration?
    /// The response, or the head of one whose body was lost.
    var response: HTTPResponse?
    /// The request of an error, which redirects may have changed.
    private var failed: HTTPRequest?

    init(number: Int, begun: Duration) {
        self.number = number
        self.begun = begun
    }

    /// The request as it was sent last; nil if nothing was.
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
            start: begun - start, queued: handedOver.map { $0 - begun }, duration: now - begun)
    }
}
