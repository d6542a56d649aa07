import Foundation

/// An observer for calls that are in progress when the app goes to the background. It requests time from the system to
/// finish them, with one background task for each call.
///
/// The library does not depend on an application framework. Pass the two closures that begin and end a background task:
///
/// ```swift
/// let application = UIApplication.shared          // on the main actor; the two calls may then be made from any thread
/// let background = BackgroundTaskObserver(
///     begin: { expire in application.beginBackgroundTask(withName: "Networking", expirationHandler: expire) },
///     end: { application.endBackgroundTask($0) })
/// let profiles = ProfileService(environment: environment) { $0.observers = [background] }
/// ```
///
/// The observer ends the background task of a call after the callbacks of the call have run. When the time that the
/// system has granted expires, the observer ends the background task immediately, as the system requires. It does not
/// cancel the call.
public struct BackgroundTaskObserver<Identifier: Sendable>: RequestObserver {
    private let begin: @Sendable (_ expire: @escaping @Sendable () -> Void) -> Identifier
    private let end: @Sendable (Identifier) -> Void
    /// The background tasks that have not ended. The key is the id of the call. The value is nil until `begin` has
    /// returned the identifier. The time of the task can expire before `begin` returns.
    private let running = Locked<[UUID: Identifier?]>([:])

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - begin: Begins a background task, on the thread on which a call begins. Its argument is the closure to call
    ///     when the time expires.
    ///   - end: Ends a background task. It is called exactly once for each task.
    public init(
        begin: @escaping @Sendable (_ expire: @escaping @Sendable () -> Void) -> Identifier,
        end: @escaping @Sendable (Identifier) -> Void
    ) {
        self.begin = begin
        self.end = end
    }

    /// Begins a background task when a call begins, and ends it when the call ends.
    public func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
        switch event {
        case .started:
            _ = running.withLock { $0.updateValue(nil, forKey: call.id) }
            let identifier = begin { finish(call.id) }
            let isRunning = running.withLock { running in
                guard running.keys.contains(call.id) else { return false }  // the time has expired meanwhile
                running[call.id] = identifier
                return true
            }
            if !isRunning { end(identifier) }
        case .finished:
            finish(call.id)
        default:
            break
        }
    }

    private func finish(_ id: UUID) {
        if let identifier = running.withLock({ $0.removeValue(forKey: id) }) ?? nil { end(identifier) }
    }
}
