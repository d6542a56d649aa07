public import Foundation

/// A type that observes the calls of a service step by step, for logs, metrics and tests.
///
/// Set an observer in the configuration (`$0.observers`), or register it while the app runs:
/// `service.observers.register(observer)`. A call is observed by the observers that are registered when it begins.
/// ``observe(_:of:)`` is called on the thread that performs the step, and the call waits for it: return quickly. The
/// events of one call are reported one after another, except ``RequestEvent/progress(_:)``. The events of different
/// calls are reported concurrently. An observer cannot change a call.
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
    /// Whether the observer receives ``RequestEvent/progress(_:)``, for which bytes are counted. Default: false.
    var wantsProgress: Bool { get }
}

extension RequestObserver {
    /// False by default.
    public var wantsProgress: Bool { false }
}

extension RequestEvent {
    /// The call that an event is about.
    public struct Call: Sendable {
        /// The id of the call. A trace that a ``TraceContextAdapter`` begins has the same id.
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
    /// The type of the endpoint, its template and the id. Its values are not shown, because they may be secrets.
    var redactedDescription: String { "\(type(of: endpoint)) \(endpoint.urlTemplate) \(id.uuidString.lowercased())" }
}
