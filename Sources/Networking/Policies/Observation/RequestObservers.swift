/// Who watches the calls of a service. It can be changed while the app runs; a call is watched by those who were
/// there when it began.
///
/// ```swift
/// let all = service.observers.register(LogObserver { print($0) })
/// let failures = service.observers.onFinish { call, report in
///     if report.status?.isServerError == true { alerts.add(report, of: call.endpoint) }
/// }
/// ```
///
/// Each registration lasts until its token is cancelled or released.
public final class RequestObservers: Sendable {
    private let registrations: Registrations<any RequestObserver>

    /// Makes a list that holds some for good.
    package init(_ permanent: [any RequestObserver] = []) {
        registrations = Registrations(permanent)
    }

    /// Adds an observer, after those that are there.
    public func register(_ observer: some RequestObserver) -> ObservationToken {
        registrations.add(observer)
    }

    /// Calls a closure for every call that is over, once each, after its retries and its own callbacks.
    public func onFinish(
        _ handler: @escaping @Sendable (RequestEvent.Call, CallReport) -> Void
    ) -> ObservationToken {
        register(FinishObserver(handler: handler))
    }

    /// Whether nobody watches.
    package var isEmpty: Bool { current.isEmpty }

    /// Those who watch a call that begins now.
    var current: [any RequestObserver] { registrations.all }
}

/// Watches for the end of calls alone.
private struct FinishObserver: RequestObserver {
    let handler: @Sendable (RequestEvent.Call, CallReport) -> Void

    func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
        if case .finished(let report) = event { handler(call, report) }
    }
}
