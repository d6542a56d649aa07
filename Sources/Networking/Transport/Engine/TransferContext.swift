/// An event of a request that the code below the pipeline reports: the engines, the transport that follows redirects,
/// and the error handlers that wait.
enum RequestSignal: Sendable {
    /// An engine has accepted the request and is about to send it.
    case sent(HTTPRequest)
    /// The response is a redirect, and the request to its target is about to be sent.
    case redirected(HTTPResponse, to: HTTPRequest)
    /// The head of a response has been received.
    case head(HTTPStatus, HTTPHeaders)
    /// The request waits, and nothing is sent. The value is the reason.
    case waiting(RequestWait)
}

/// The receiver of a request's signals; nil if the call has no observers.
struct RequestWatch: HTTPRequest.Option, Sendable {
    static var defaultValue: RequestWatch? { nil }

    /// Receives a signal, on the thread that reports it.
    let tell: @Sendable (RequestSignal) -> Void

    /// Creates a watch that calls a closure.
    init(_ tell: @escaping @Sendable (RequestSignal) -> Void) {
        self.tell = tell
    }
}

/// The permit of the call that a transfer belongs to.
protocol TransferPermit: CallPermit {
    /// Releases the permit, unless it has been released already.
    ///
    /// - Parameter outcome: The outcome of the request for which the permit was held; nil if no request was sent.
    func release(after outcome: Result<HTTPResponse, any Error>?)
    /// Moves the permit from the call to a transfer that outlives the call.
    ///
    /// - Returns: The permit of the transfer; nil if the permit has already been released.
    func handOver() -> (any TransferPermit)?
}

extension CallScope {
    /// The permit of the call that the current task runs in.
    static var currentPermit: (any TransferPermit)? { current?.permit as? any TransferPermit }
}
