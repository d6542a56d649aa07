import Networking

/// A call that enters and leaves real limits and a gate. The explorer runs the call to its next suspension point.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class ManualCall: @unchecked Sendable {  // because one thread at a time uses it
    let executor = ManualExecutor()
    var task: Task<Void, Never>?
    private var admitted: Admitted?
    private(set) var isAdmitted = false
    var isCancelled = false
    /// Whether the head of its response has arrived.
    var hasHead = false
    /// Whether the call has ended without a permit.
    var hasFailed = false

    /// Whether the call waits for its permits.
    var isEntering: Bool { task != nil && !isAdmitted }

    func keep(_ admitted: consuming Admitted) {
        self.admitted = consume admitted
        isAdmitted = true
    }

    /// Returns the permits, if the call has any.
    func leave() {
        isAdmitted = false
        admitted.take()?.end(.notSent)
    }
}
