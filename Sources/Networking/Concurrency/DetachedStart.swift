/// Starts a task that belongs to no call: what ends the caller does not end it.
enum DetachedStart {
    /// Runs an operation at once on the caller's thread, up to its first wait, where the system can: a task that is handed to another
    /// thread costs ten times as much, and one that never waits need not be.
    static func run(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        CallScope.$current.withValue(nil) {
            #if compiler(>=6.2)
                if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                    return Task.immediate(operation: operation)
                }
            #endif
            return Task(operation: operation)
        }
    }
}
