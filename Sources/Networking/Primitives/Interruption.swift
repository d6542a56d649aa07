/// Why the library ended a wait before what was waited for came.
enum Interruption: Error, Equatable {
    /// The task, or the call, was cancelled.
    case cancelled
    /// The call's total deadline passed.
    case deadlineExceeded
    /// The work was paused, and will be begun again.
    case paused
    /// The service is being reset.
    case resetting
}

/// A wait that can be ended from outside. Its identity is that of the object behind it.
protocol Endable: Identifiable<ObjectIdentifier>, Sendable {
    func end(with interruption: Interruption)
}
