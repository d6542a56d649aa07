/// A type that finds out whether the network can be reached.
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
    /// Returns the status of the network after a check that may take time. The method does not throw: a network that
    /// cannot be reached for any reason is ``ReachabilityStatus/notReachable``.
    func status() async -> ReachabilityStatus
    /// Returns the status that is known at once, without waiting.
    func quickStatus() -> ReachabilityStatus
    /// Whether the network costs more than others, according to the system: a cellular network or a personal hotspot.
    var isExpensive: Bool { get }
    /// Whether the user wants less traffic on the network: Low Data Mode.
    var isConstrained: Bool { get }
    /// Registers a closure. The probe calls the closure, from any thread, when a new check is useful before the
    /// interval ends.
    func onChange(_ wake: @escaping @Sendable () -> Void)
}

extension ReachabilityProbe {
    /// False, because most systems do not report whether a network is expensive.
    public var isExpensive: Bool { false }
    /// False, because most systems have no Low Data Mode.
    public var isConstrained: Bool { false }
    /// Returns the status of the interfaces of the system.
    public func quickStatus() -> ReachabilityStatus { InterfaceProbe().quickStatus() }
    /// Does nothing. This is right for a probe that cannot detect changes itself.
    public func onChange(_ wake: @escaping @Sendable () -> Void) {}
}
