public import Foundation

/// Watches every call of a service, step by step.
///
/// Give it to the service (`observers:`), or register it while the app runs: `service.observers.register(observer)`. It is called on the thread
/// on which the step is taken, and the call waits for it: be quick, and hop elsewhere for what takes time. The events of one call come one
/// after another, besides ``RequestEvent/progress(_:)``; those of different calls come at the same time.
///
/// ```swift
/// struct SlowCallObserver: RequestObserver {
///     let report: @Sendable (String) -> Void
///
///     func observe(_ event: RequestEvent, of call: ObservedCall) {
///         guard case .finished(let finished) = event, finished.duration > .seconds(2) else { return }
///         report(finished.waterfall)
///     }
/// }
/// ```
public protocol RequestObserver: Sendable {
    /// Takes an event.
    func observe(_ event: RequestEvent, of call: ObservedCall)
    /// Whether it wants ``RequestEvent/progress(_:)``, for which bytes have to be counted; not unless it says so.
    var wantsProgress: Bool { get }
}

extension RequestObserver {
    /// False.
    public var wantsProgress: Bool { false }
}

/// The call that an event is about.
public struct ObservedCall: Sendable {
    /// What tells it from every other call: the trace id, too, where a ``TraceContextAdapter`` begins a trace.
    public let id: UUID
    /// Its endpoint.
    public let endpoint: any Endpoint

    /// Makes a call; useful to test an observer.
    public init(id: UUID = UUID(), endpoint: any Endpoint) {
        self.id = id
        self.endpoint = endpoint
    }
}

extension ObservedCall: CustomStringConvertible, CustomReflectable {
    /// The endpoint's type, its template and the id; none of its values, which may be secrets.
    public var description: String { "\(type(of: endpoint)) \(endpoint.urlTemplate) \(id.uuidString.lowercased())" }
    /// Nothing but the description, for `dump` and its like.
    public var customMirror: Mirror { Mirror(self, children: ["call": description]) }
}
