/// A call in progress that can be cancelled. Only classes conform, so that a reference can be weak.
public protocol CancellableRequest: AnyObject, Sendable {
    /// The endpoint of the call.
    var endpoint: any Endpoint { get }
    /// Cancels the call at any stage. Neither a success nor a retry follows.
    ///
    /// - Returns: True if this invocation cancelled the call. False if the call had ended or was already cancelled.
    @discardableResult
    func cancel() -> Bool
    /// Calls a closure on the main actor with the newest progress, until the call ends.
    @discardableResult
    @preconcurrency
    func onProgress(_ action: @escaping @MainActor @Sendable (RequestProgress) -> Void) -> Self
}
