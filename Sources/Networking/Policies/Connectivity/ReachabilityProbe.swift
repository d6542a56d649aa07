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
    /// Looks, and takes its time for it. It does not throw: what cannot be reached for whatever reason is not
    /// reachable.
    func status() async -> ReachabilityStatus
    /// What can be told at once, without waiting for anything.
    func quickStatus() -> ReachabilityStatus
    /// Whether the network costs more than others, as far as the system tells: a cellular network, a personal hotspot.
    var isExpensive: Bool { get }
    /// Whether the user has asked for less traffic on the network: Low Data Mode.
    var isConstrained: Bool { get }
    /// Takes the closure to call, from any thread, when looking again makes sense before the interval is over.
    func onChange(_ wake: @escaping @Sendable () -> Void)
}

extension ReachabilityProbe {
    /// False: most systems do not tell.
    public var isExpensive: Bool { false }
    /// False: most systems do not tell.
    public var isConstrained: Bool { false }
    /// What the system's interfaces tell.
    public func quickStatus() -> ReachabilityStatus { InterfaceProbe().quickStatus() }
    /// Does nothing: right for a probe that knows only what it is asked for.
    public func onChange(_ wake: @escaping @Sendable () -> Void) {}
}
