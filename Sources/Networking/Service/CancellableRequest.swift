/// A call in progress that can be cancelled. It is a class, so that it can be held weakly.
public protocol CancellableRequest: AnyObject, Sendable {
    /// The endpoint of the call.
    var endpoint: any Endpoint { get }
    /// Ends the call, wherever it is, with a cancellation; no success and no retry follow.
    ///
    /// - Returns: True if this made the call end cancelled; false the second time, or if the call has ended.
    @discardableResult
    func cancel() -> Bool
    /// Calls a closure with the newest progress, until the call ends. On the main actor.
    @discardableResult
    @preconcurrency
    func onProgress(_ action: @escaping @MainActor @Sendable (RequestProgress) -> Void) -> Self
}
