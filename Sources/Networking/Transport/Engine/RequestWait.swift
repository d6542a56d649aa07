/// The reason why a call waits.
public enum RequestWait: Sendable {
    /// An admission policy delays the call until the call has a permit or an access token. The value is the name of the
    /// policy's type.
    case admission(policy: String)
    /// An attempt has failed, and another attempt follows after a delay. A delay of zero means immediately.
    case retry(after: Duration, RetryDecision)
    /// The system has no network connection.
    case connectivity
    /// The call is paused.
    case paused
}

/// An event of a request, reported by code below the pipeline: by the engines, by the transport that follows redirects,
/// and by the error handlers that wait.
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
