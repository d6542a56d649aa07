/// A step that a call takes, for whoever watches it.
///
/// For each call ``started`` comes first and ``finished(_:)`` last, exactly once each. Between them, for each
/// attempt: ``attempting(_:_:)``, waits, ``admitted(attempt:)``, ``adapted(_:)``, what is seen on the way,
/// ``attempted(_:)``. An attempt that was paused is told of again, with the same number; of one whose request cannot
/// be made, ``attempted(_:)`` is all. More cases may come: a `switch` needs a `default`.
public enum RequestEvent: Sendable {
    /// The call begins.
    case started
    /// An attempt begins, with this request, before adapters.
    case attempting(Int, HTTPRequest)
    /// The call does not go on just now.
    case waiting(RequestWait)
    /// The attempt has its place, and its token where it needs one.
    case admitted(attempt: Int)
    /// The request as adapters have dressed it, about to be handed to the transport.
    case adapted(HTTPRequest)
    /// An engine has taken it. Once a hop; not told by transports that are no engines, nor where a cache or an equal
    /// request answers.
    case sent(HTTPRequest)
    /// An answer led elsewhere, and the request that follows it is about to be sent.
    case redirected(HTTPResponse, to: HTTPRequest)
    /// The head of an answer has come: from an engine as soon as it is there, once a hop; from other transports with
    /// the answer.
    case head(HTTPStatus, HTTPHeaders)
    /// Bytes have passed since this was told last: the newest progress, told on a queue of its own and only to
    /// observers that ask for it.
    case progress(RequestProgress)
    /// The attempt is over.
    case attempted(RequestAttempt)
    /// The call is over: after its retries and error handlers, and after its own callbacks, where it has some.
    case finished(CallReport)

    init(_ signal: RequestSignal) {
        switch signal {
        case .sent(let request): self = .sent(request)
        case .redirected(let response, let request): self = .redirected(response, to: request)
        case .head(let status, let headers): self = .head(status, headers)
        case .waiting(let wait): self = .waiting(wait)
        }
    }
}

extension RequestEvent: CustomStringConvertible, CustomReflectable {
    /// The event's name with what it is about; neither queries, fields, credentials nor bodies.
    public var description: String {
        switch self {
        case .started: "started"
        case .attempting(let number, let request): "attempting(\(number): \(request))"
        case .waiting(let wait): "waiting(\(wait))"
        case .admitted(let attempt): "admitted(\(attempt))"
        case .adapted(let request): "adapted(\(request))"
        case .sent(let request): "sent(\(request))"
        case .redirected(let response, let request): "redirected(\(response.status) to \(request))"
        case .head(let status, _): "head(\(status))"
        case .progress(let progress): "progress(\(progress))"
        case .attempted(let attempt): "attempted(\(attempt))"
        case .finished(let report): "finished(\(report))"
        }
    }

    /// Nothing but the description, for `dump` and its like.
    public var customMirror: Mirror { Mirror(self, children: ["event": description]) }
}
