/// An object that owns an observation. The observation ends when the token is cancelled or released.
///
/// Store the token for as long as you need the observation. The token can be cancelled on any thread, even inside the
/// handler. If it is cancelled inside the handler, or on the queue on which the handler is called, the handler is not
/// called again.
public final class ObservationToken: Sendable {
    private let action: Locked<(@Sendable () -> Void)?>

    /// Creates a token that calls `action` once, when the token is cancelled or released.
    public init(_ action: @escaping @Sendable () -> Void) {
        self.action = Locked(action)
    }

    deinit {
        cancel()
    }

    /// Ends the observation. Further calls do nothing.
    public func cancel() {
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
    }
}
