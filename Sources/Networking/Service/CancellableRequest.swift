/// A call that is under way and can be cancelled.
public protocol CancellableRequest: Sendable {
    /// The endpoint of the call.
    var endpoint: any Endpoint { get }
    /// Ends the call, wherever it is, with a cancellation; no success and no retry follow.
    ///
    /// - Returns: True when this made the call end cancelled; false the second time, or when the call has its answer.
    @discardableResult
    func cancel() -> Bool
}
