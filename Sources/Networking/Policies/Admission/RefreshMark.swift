/// Marks the calls that a token refresh makes, wherever in its task they are made.
///
/// It would leak into tasks that the refresh leaves running; so it is closed with the refresh.
final class RefreshMark: Sendable {
    @TaskLocal private static var current: RefreshMark?

    private let isOpen = Locked(true)

    /// Whether the current task is part of a refresh that is still running.
    static var isSet: Bool { current?.isOpen.withLock { $0 } ?? false }

    /// Runs an operation whose calls are marked until it returns.
    static func mark<Value: Sendable>(_ operation: @Sendable () async throws -> Value) async throws -> Value {
        let mark = RefreshMark()
        defer { mark.isOpen.withLock { $0 = false } }
        return try await $current.withValue(mark, operation: operation)
    }
}
