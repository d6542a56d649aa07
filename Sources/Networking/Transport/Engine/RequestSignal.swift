/// What happens to a request below the pipeline, told by whoever sees it: engines, redirects, handlers that wait.
public enum RequestSignal: Sendable {
    /// An engine has taken the request and is about to carry it.
    case sent(HTTPRequest)
    /// An answer leads elsewhere, and the request that follows it is about to be sent.
    case redirected(HTTPResponse, to: HTTPRequest)
    /// The head of an answer has come.
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

/// Who watches a request below the pipeline; nobody unless the call has observers.
///
/// A transport of yours that carries requests itself may tell: `request[option: RequestWatch.self]?.tell(.sent(request))`.
public struct RequestWatch: RequestOption, Sendable {
    /// Nobody.
    public static var defaultOption: RequestWatch? { nil }

    /// Takes a signal, on the thread that tells.
    public let tell: @Sendable (RequestSignal) -> Void

    /// Makes a watch of a closure.
    public init(_ tell: @escaping @Sendable (RequestSignal) -> Void) {
        self.tell = tell
    }
}

/// The place that a request has in the queues of its service while it is carried.
///
/// A transport that lets a request wait for the answer of another one, which has a place of its own, gives it back at once:
/// `request[option: HeldPlaceOption.self]?.giveBack(after: nil)`.
public protocol HeldPlace: AnyObject, Sendable {
    /// Gives the place back, unless that has happened.
    ///
    /// - Parameter outcome: How the request ended for which it was held; nil where nothing was sent in its name.
    func giveBack(after outcome: Result<HTTPResponse, any Error>?)
    /// Takes the place away from the request, for a transfer that goes on without it; nil where it has none any more.
    func handOver() -> (any HeldPlace)?
}

/// The place that a request has; nil where it needs none.
public enum HeldPlaceOption: RequestOption {
    /// None.
    public static var defaultOption: (any HeldPlace)? { nil }
}
