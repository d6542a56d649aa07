public import Foundation

/// A call that is under way and can be cancelled.
public protocol CancellableRequest: Sendable {
    /// The endpoint of the call.
    var endpoint: any Endpoint { get }
    /// Ends the call, wherever it is, with a cancellation; no success and no retry follow.
    ///
    /// - Returns: True when this made the call end cancelled; false the second time, or when the call has its answer.
    @discardableResult
    func cancel() -> Bool
    /// Calls `action` with the newest progress, until the call is over.
    ///
    /// - Parameters:
    ///   - queue: Where; the call's own queue unless one is given.
    ///   - action: Is told.
    @discardableResult
    func onProgress(on queue: DispatchQueue?, _ action: @escaping @Sendable (RequestProgress) -> Void) -> Self
}

extension CancellableRequest {
    /// Calls `action` with the newest progress, on the call's queue, until the call is over.
    @discardableResult
    public func onProgress(_ action: @escaping @Sendable (RequestProgress) -> Void) -> Self {
        onProgress(on: nil, action)
    }
}
