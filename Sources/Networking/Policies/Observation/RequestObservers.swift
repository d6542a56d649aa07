/// Who watches the calls of a service. It can be changed while the app runs; a call is watched by those who were
/// there when it began.
///
/// ```swift
/// let all = service.observers.register(LogObserver { print($0) })
/// let renames = service.observers.onFinish(of: RenameEndpoint.self) { call, report in audit.note(report) }
/// let refusals = service.observers.onFinish(with: [.unauthorized, .forbidden]) { call, report in … }
/// ```
///
/// Each registration lasts until its token is cancelled or released.
public final class RequestObservers: Sendable {
    /// Is called with a call that is over, and its report.
    public typealias Handler = @Sendable (ObservedCall, CallReport) -> Void

    private let registrations: Registrations<any RequestObserver>

    /// Makes a list that holds some for good.
    public init(_ permanent: [any RequestObserver] = []) {
        registrations = Registrations(permanent)
    }

    /// Adds an observer, after those that are there.
    public func register(_ observer: some RequestObserver) -> ObservationToken {
        registrations.add(observer)
    }

    /// Calls a closure for every call that is over, once each, after its retries and its own callbacks.
    public func onFinish(_ handler: @escaping Handler) -> ObservationToken {
        register(FinishObserver(isMeant: { _, _ in true }, handler: handler))
    }

    /// Calls a closure for every call of an endpoint type that is over.
    public func onFinish<Call: Endpoint>(of type: Call.Type, _ handler: @escaping Handler) -> ObservationToken {
        register(FinishObserver(isMeant: { call, _ in call.endpoint is Call }, handler: handler))
    }

    /// Calls a closure for every call that is over and whose last response had one of these statuses.
    public func onFinish(with statuses: Set<HTTPStatus>, _ handler: @escaping Handler) -> ObservationToken {
        register(FinishObserver(isMeant: { $1.status.map(statuses.contains) ?? false }, handler: handler))
    }

    /// Calls a closure for every call that is over and whose last response had a status in a range: `500..<600` for
    /// the server's errors.
    public func onFinish(with statuses: Range<Int>, _ handler: @escaping Handler) -> ObservationToken {
        register(FinishObserver(isMeant: { $1.status.map { statuses.contains($0.code) } ?? false }, handler: handler))
    }

    /// Whether nobody watches.
    public var isEmpty: Bool { current.isEmpty }

    /// Those who watch a call that begins now.
    var current: [any RequestObserver] { registrations.all }
}

/// Watches for the end of calls alone.
private struct FinishObserver: RequestObserver {
    let isMeant: @Sendable (ObservedCall, CallReport) -> Bool
    let handler: RequestObservers.Handler

    func observe(_ event: RequestEvent, of call: ObservedCall) {
        guard case .finished(let report) = event, isMeant(call, report) else { return }
        handler(call, report)
    }
}
