public import Foundation

/// A step of a call, for its observers.
///
/// For each call, ``started`` is the first event, and ``finished(_:)`` is the last event; each is reported exactly
/// once. Only the call that opened a ``WebSocket`` reports further events after its end: the messages of its
/// connection. Between the first and the last event of the call, each attempt reports ``attemptStarted(_:_:)``, its
/// waits, ``permitAcquired(attempt:)``, ``adapted(_:)``, the events of the transfer, and ``attemptEnded(_:)``. An
/// attempt that was paused is reported again, with the same number. If the request cannot be created,
/// ``attemptEnded(_:)`` is the only event of the attempt. Later versions may add cases, so a `switch` needs a
/// `default`.
public enum RequestEvent: Sendable {
    /// The call begins.
    case started
    /// An attempt begins. The adapters have not changed its request yet.
    case attemptStarted(Int, HTTPRequest)
    /// The call waits.
    case waiting(RequestWait)
    /// The attempt has its permit, and a token if it needs one.
    case permitAcquired(attempt: Int)
    /// The request after adapting, before the transport gets it.
    case adapted(HTTPRequest)
    /// A transport of the library has sent a request: the first request, the request of a redirect, or one of the
    /// requests of a resumable upload. Other transports do not report this event. It is not reported if the response
    /// comes from a cache, or from the transfer of an equal request.
    case sent(HTTPRequest)
    /// A response was a redirect, and a request to the target of the redirect is about to be sent.
    case redirected(HTTPResponse, to: HTTPRequest)
    /// The head of a response was received. Transports of the library report it at once, even for redirects. For other
    /// transports, it is reported with the response.
    case head(HTTPStatus, HTTPHeaders)
    /// The newest progress, after bytes were transferred. It is reported on a separate queue, and only to observers
    /// with ``RequestObserver/wantsProgress``.
    case progress(RequestProgress)
    /// The attempt is over.
    case attemptEnded(RequestAttempt)
    /// The call is over: its retries, its error handlers and its own callbacks have ended.
    case finished(CallReport)
    /// A message was sent on the connection of a ``WebSocket``. The date is the time at which `send` began. This event
    /// is reported when `send` has ended, so an event for the answer may be reported before it.
    case messageSent(WebSocketMessage, Date)
    /// A message was read from the connection of a ``WebSocket``, at this date.
    case messageReceived(WebSocketMessage, Date)

    init(_ signal: RequestSignal) {
        switch signal {
        case .sent(let request): self = .sent(request)
        case .redirected(let response, let request): self = .redirected(response, to: request)
        case .head(let status, let headers): self = .head(status, headers)
        case .waiting(let wait): self = .waiting(wait)
        }
    }
}

extension RequestEvent: RedactedReflectable {
    /// The name and the values of the event, without queries, header fields, credentials and bodies.
    var redactedDescription: String {
        switch self {
        case .started: "started"
        case .attemptStarted(let number, let request): "attemptStarted(\(number): \(request))"
        case .waiting(let wait): "waiting(\(wait))"
        case .permitAcquired(let attempt): "permitAcquired(\(attempt))"
        case .adapted(let request): "adapted(\(request))"
        case .sent(let request): "sent(\(request))"
        case .redirected(let response, let request): "redirected(\(response.status) to \(request))"
        case .head(let status, _): "head(\(status))"
        case .progress(let progress): "progress(\(progress))"
        case .attemptEnded(let attempt): "attemptEnded(\(attempt))"
        case .finished(let report): "finished(\(report))"
        case .messageSent(let message, _): "messageSent(\(message))"
        case .messageReceived(let message, _): "messageReceived(\(message))"
        }
    }
}
