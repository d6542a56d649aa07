public import Foundation

/// Observes the calls of a service, step by step: for logs, metrics and tests.
///
/// Set it in the configuration (`$0.observers`), or register it while the app runs:
/// `service.observers.register(observer)`. A call is observed by those that are there when it begins.
/// ``observe(_:of:)`` is called on the thread that takes the step, and the call waits for it: return quickly. The
/// events of one call come one after another, except ``RequestEvent/progress(_:)``; those of different calls come at
/// the same time. An observer changes nothing about a call.
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
    /// Is called for each event of each call.
    func observe(_ event: RequestEvent, of call: RequestEvent.Call)
    /// Whether it is called for ``RequestEvent/progress(_:)``, for which bytes are counted. Default: false.
    var wantsProgress: Bool { get }
}

extension RequestObserver {
    /// False.
    public var wantsProgress: Bool { false }
}

extension RequestEvent {
    /// The call that an event is about.
    public struct Call: Sendable {
        /// The identifier of the call. A trace that a ``TraceContextAdapter`` begins has the same one.
        public let id: UUID
        /// Its endpoint.
        public let endpoint: any Endpoint

        /// Makes a call, for a test of an observer.
        package init(id: UUID = UUID(), endpoint: any Endpoint) {
            self.id = id
            self.endpoint = endpoint
        }
    }
}

extension RequestEvent.Call: RedactedReflectable {
    /// The endpoint's type, its template and the id; none of its values, which may be secrets.
    var redactedDescription: String { "\(type(of: endpoint)) \(endpoint.urlTemplate) \(id.uuidString.lowercased())" }
}
