/// What happens to a request below the pipeline, reported by engines, redirects, and handlers that wait.
enum RequestSignal: Sendable {
    /// An engine has taken the request and is about to carry it.
    case sent(HTTPRequest)
    /// A response leads elsewhere, and the request that follows it is about to be sent.
    case redirected(HTTPResponse, to: HTTPRequest)
    /// The head of a response has come.
    case head(HTTPStatus, HTTPHeaders)
    /// Nothing is sent for a reason of its own.
    case waiting(RequestWait)
}

/// Why a call does not go on just now.
public enum RequestWait: Sendable {
    /// An admission policy, named by its type, says "not now": it waits for a place or for a token.
    case admission(policy: String)
    /// An attempt has failed, and another one follows: after a while, or at once, after zero.
    case retry(after: Duration, RetryDecision)
    /// The system has no connection.
    case connectivity
    /// Somebody has paused the call.
    case paused
}

/// Receives the signals of a request below the pipeline; nil unless the call has observers.
struct RequestWatch: HTTPRequest.Option, Sendable {
    /// Nobody.
    static var defaultValue: RequestWatch? { nil }

    /// Takes a signal, on the thread that tells.
    let tell: @Sendable (RequestSignal) -> Void

    /// Makes a watch of a closure.
    init(_ tell: @escaping @Sendable (RequestSignal) -> Void) {
        self.tell = tell
    }
}

/// The permit of the call that a transfer belongs to.
protocol TransferPermit: CallPermit {
    /// Releases the permit, unless that has happened.
    ///
    /// - Parameter outcome: How the request ended for which it was held; nil if nothing was sent in its name.
    func release(after outcome: Result<HTTPResponse, any Error>?)
    /// Takes the permit away from the call, for a transfer that outlives it; nil if it has been released.
    func handOver() -> (any TransferPermit)?
}

extension CallScope {
    /// The permit of the call that the current task runs in.
    static var currentPermit: (any TransferPermit)? { current?.permit as? any TransferPermit }
}
