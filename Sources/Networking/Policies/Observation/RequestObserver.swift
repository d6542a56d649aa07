public import Foundation

/// Observes the calls of a service, step by step: for logs, metrics and tests.
///
/// Set observers with ``NetworkConfiguration/observers``, or register them while the app runs with
/// `service.observers.register(observer)`. A call notifies the observers that are registered when the call begins.
///
/// ## When it is called
///
/// ``observe(_:of:)`` is called for each ``RequestEvent`` of each call, on the thread of the event. The call waits
/// until the method returns, so return quickly. The events of one call are reported one after another, including
/// ``RequestEvent/progress(_:)``. Events of different calls may be reported at the same time.
///
/// `.progress` is reported only to observers whose ``wantsProgress`` is true.
///
/// ## What it may do
///
/// An observer cannot change a call. Descriptions of events, requests and reports show no secrets. The properties of
/// these values may contain secrets.
///
/// ## Example
///
/// ```swift
/// struct SlowCallObserver: RequestObserver {
///     let report: @Sendable (String) -> Void
///
///     func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
///         guard case .finished(let finished) = event, finished.duration > .seconds(2) else { return }
///         report(finished.waterfall)
///     }
/// }
/// ```
public protocol RequestObserver: Sendable {
    /// Receives an event of a call.
    func observe(_ event: RequestEvent, of call: RequestEvent.Call)
    /// Whether the observer receives ``RequestEvent/progress(_:)``. If true, the bytes of the call are counted for
    /// these events. The library reads this property of the registered observer, and then of the observer that
    /// ``observer(of:)`` returns. Default: false.
    var wantsProgress: Bool { get }
    /// Returns the observer that receives the events of one call. This method is called when the call begins. An
    /// observer that wraps another observer must also call this method of the wrapped observer. To keep state for each
    /// call, return a new object for each call. This object receives only the events of its call. Default: this
    /// observer.
    func observer(of call: RequestEvent.Call) -> any RequestObserver
}

extension RequestObserver {
    /// False by default.
    public var wantsProgress: Bool { false }

    /// This observer by default.
    public func observer(of call: RequestEvent.Call) -> any RequestObserver { self }
}

extension RequestEvent {
    /// The call that an event is about.
    public struct Call: Sendable {
        /// The id of the call. A trace that a ``TraceContext/Adapter`` begins has the same id.
        public let id: UUID
        /// The endpoint of the call.
        public let endpoint: any Endpoint

        /// Creates a call for a test of an observer.
        package init(id: UUID = UUID(), endpoint: any Endpoint) {
            self.id = id
            self.endpoint = endpoint
        }
    }
}

extension RequestEvent.Call: RedactedReflectable {
    /// The type of the endpoint, its template and the id. The endpoint's values are not shown, because they may be
    /// secrets.
    var redactedDescription: String { "\(type(of: endpoint)) \(endpoint.urlTemplate) \(id.uuidString.lowercased())" }
}

/// The observers of the calls of a service. The list can change while the app runs. A call notifies the observers that
/// are registered when the call begins. An object that is registered more than once gets each event once.
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

    /// Calls a closure once at the end of each call, after its retries, and after the callbacks of its task have run.
    public func onFinish(_ handler: @escaping @Sendable (RequestEvent.Call, CallReport) -> Void) -> ObservationToken {
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
