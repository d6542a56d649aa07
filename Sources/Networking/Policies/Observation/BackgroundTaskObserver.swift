import Foundation

/// An observer that requests time from the system to finish calls that are in progress when the app goes to the
/// background: one background task for each call.
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
/// The observer ends the background task of a call after the callbacks of the call. When the time that the system has
/// granted expires, the observer ends the background task immediately, as the system requires. It does not cancel the
/// call.
public struct BackgroundTaskObserver<Identifier: Sendable>: RequestObserver {
    private let begin: @Sendable (_ expire: @escaping @Sendable () -> Void) -> Identifier
    private let end: @Sendable (Identifier) -> Void
    private let running = Locked<[UUID: Running]>([:])

    /// The state of a background task. The time of the task can expire before `begin` has returned its identifier.
    private enum Running: Sendable {
        case beginning
        case begun(Identifier)
        case expired
    }

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
            running.withLock { $0[call.id] = .beginning }
            let identifier = begin { finish(call.id) }
            let isExpired = running.withLock { running in
                if case .beginning? = running[call.id] {
                    running[call.id] = .begun(identifier)
                    return false
                }
                running[call.id] = nil
                return true
            }
            if isExpired { end(identifier) }
        case .finished:
            finish(call.id)
        default:
            break
        }
    }

    private func finish(_ id: UUID) {
        let identifier = running.withLock { running -> Identifier? in
            switch running[id] {
            case .begun(let identifier)?:
                running[id] = nil
                return identifier
            case .beginning?:
                running[id] = .expired
                return nil
            case .expired?, nil:
                return nil
            }
        }
        if let identifier { end(identifier) }
    }
}
