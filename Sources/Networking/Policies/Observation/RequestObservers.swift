/// The observers of the calls of a service. The list can change while the app runs. A call notifies the observers that
/// are registered when the call begins.
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

    /// Creates a list with permanent observers.
    package init(_ permanent: [any RequestObserver] = []) {
        registrations = Registrations(permanent)
    }

    /// Adds an observer after the existing observers.
    public func register(_ observer: some RequestObserver) -> ObservationToken {
        registrations.add(observer)
    }

    /// Calls a closure once at the end of each call, after its retries and after the callbacks of its task.
    public func onFinish(
        _ handler: @escaping @Sendable (RequestEvent.Call, CallReport) -> Void
    ) -> ObservationToken {
        register(FinishObserver(handler: handler))
    }

    /// Whether there are no observers.
    package var isEmpty: Bool { current.isEmpty }

    /// The observers of a call that begins now.
    var current: [any RequestObserver] { registrations.all }
}

/// An observer that handles only the end of calls.
private struct FinishObserver: RequestObserver {
    let handler: @Sendable (RequestEvent.Call, CallReport) -> Void

    func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
        if case .finished(let report) = event { handler(call, report) }
    }
}
