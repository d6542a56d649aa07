/// Finds out whether the network can be reached.
///
/// ```swift
/// struct HealthProbe: ReachabilityProbe {
///     let service: NetworkService
///
///     func status() async -> ReachabilityStatus {
///         let isUp = (try? await service.request(.get("health"))) != nil
///         return isUp ? .reachable(.ethernetOrWiFi) : .notReachable
///     }
/// }
/// ```
public protocol ReachabilityProbe: Sendable {
    /// Looks, and takes its time for it. It does not throw: what cannot be reached for whatever reason is not reachable.
    func status() async -> ReachabilityStatus
    /// What can be told at once, without waiting for anything.
    func glance() -> ReachabilityStatus
    /// Takes the closure to call, from any thread, when looking again makes sense before the interval is over.
    func onChange(_ wake: @escaping @Sendable () -> Void)
}

extension ReachabilityProbe {
    /// What the system's interfaces tell.
    public func glance() -> ReachabilityStatus { InterfaceProbe().glance() }
    /// Does nothing: right for a probe that knows only what it is asked for.
    public func onChange(_ wake: @escaping @Sendable () -> Void) {}
}
