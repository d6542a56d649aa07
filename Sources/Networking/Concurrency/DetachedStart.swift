/// Starts a task for a call that the end of the call does not end.
enum DetachedStart {
    /// Runs an operation at once on the caller's thread, up to its first wait, where the system can: a task that is handed to another
    /// thread costs ten times as much, and one that never waits need not be.
    ///
    /// It has a scope of its own inside the caller's, which has a place: what it calls waits for none, and a reset from there spares the caller.
    static func run(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        let scope = CallScope(inside: CallScope.current)
        scope.holdsPlace = true
        return CallScope.$current.withValue(scope) {
            #if compiler(>=6.2)
                if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                    return Task.immediate(operation: operation)
                }
            #endif
            return Task(operation: operation)
        }
    }
}
