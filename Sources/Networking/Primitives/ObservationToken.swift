/// Owns an observation: it ends when the token is cancelled or released.
///
/// Store the token for as long as you want to be told. Cancelling is safe from any thread, also from inside the
/// handler; cancelled on the queue that the handler is called on, or within the handler, no further call of it
/// begins.
public final class ObservationToken: Sendable {
    private let action: Locked<(@Sendable () -> Void)?>

    /// Makes a token that calls `action` once, when it is cancelled or released.
    public init(_ action: @escaping @Sendable () -> Void) {
        self.action = Locked(action)
    }

    deinit {
        cancel()
    }

    /// Ends the observation. A second call does nothing.
    public func cancel() {
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
    }
}
