/// The number of exchanges in progress in an engine, and the closures to call when no exchange is in progress.
struct RunningCount: Sendable {
    private(set) var count = 0
    private var whenNone: [@Sendable () -> Void] = []

    /// Counts an exchange that begins.
    ///
    /// - Returns: Whether the exchange may begin; false after ``drain(_:)``.
    mutating func begin() -> Bool {
        guard whenNone.isEmpty else { return false }
        count += 1
        return true
    }

    /// Subtracts an exchange that has ended.
    ///
    /// - Returns: The closures to call, outside any lock.
    mutating func end() -> [@Sendable () -> Void] {
        count -= 1
        return count == 0 ? whenNone : []
    }

    /// Refuses further exchanges.
    ///
    /// - Parameter whenNone: A closure to call when no exchange is in progress.
    /// - Returns: Whether no exchange is in progress now, so that the caller has to call the closure.
    mutating func drain(_ whenNone: @escaping @Sendable () -> Void) -> Bool {
        self.whenNone.append(whenNone)
        return count == 0
    }
}
