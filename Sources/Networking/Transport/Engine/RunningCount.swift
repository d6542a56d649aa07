/// The number of exchanges in progress in an engine, and the closures to call once there are none.
struct RunningCount: Sendable {
    private(set) var count = 0
    private var whenNone: [@Sendable () -> Void] = []

    /// An exchange begins.
    ///
    /// - Returns: False if none may begin any more.
    mutating func begin() -> Bool {
        guard whenNone.isEmpty else { return false }
        count += 1
        return true
    }

    /// An exchange has ended.
    ///
    /// - Returns: The closures to call, outside any lock.
    mutating func end() -> [@Sendable () -> Void] {
        count -= 1
        return count == 0 ? whenNone : []
    }

    /// No exchange may begin any more.
    ///
    /// - Parameter whenNone: To be called when none is in progress.
    /// - Returns: Whether none is now, so that the caller has to call the closure.
    mutating func drain(_ whenNone: @escaping @Sendable () -> Void) -> Bool {
        self.whenNone.append(whenNone)
        return count == 0
    }
}
