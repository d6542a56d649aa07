import Foundation

/// Asks the system for time to finish calls that are under way when the app goes to the background: one background
/// task a call.
///
/// The library knows no application; give it the two calls that do:
///
/// ```swift
/// let application = UIApplication.shared          // on the main actor; the two calls may then be made from any thread
/// let background = BackgroundTaskObserver(
///     begin: { expire in application.beginBackgroundTask(withName: "Networking", expirationHandler: expire) },
///     end: { application.endBackgroundTask($0) })
/// let profiles = ProfileService(environment: environment) { $0.observers = [background] }
/// ```
///
/// A call ends its background task after its callbacks. When the system's time is up, the task is ended at once, as
/// the system wants it, and the call is left to its fate.
public struct BackgroundTaskObserver<Identifier: Sendable>: RequestObserver {
    private let begin: @Sendable (_ expire: @escaping @Sendable () -> Void) -> Identifier
    private let end: @Sendable (Identifier) -> Void
    private let running = Locked<[UUID: Running]>([:])

    /// A background task, or that its time was up before its identifier was known.
    private enum Running: Sendable {
        case beginning
        case begun(Identifier)
        case expired
    }

    /// Makes an observer.
    ///
    /// - Parameters:
    ///   - begin: Begins a background task, on the thread on which a call begins; it is given what to call when the
    ///     time is up.
    ///   - end: Ends one; called exactly once each.
    public init(
        begin: @escaping @Sendable (_ expire: @escaping @Sendable () -> Void) -> Identifier,
        end: @escaping @Sendable (Identifier) -> Void
    ) {
        self.begin = begin
        self.end = end
    }

    /// Begins and ends background tasks with calls.
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
