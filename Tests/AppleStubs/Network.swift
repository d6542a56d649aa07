// swift-format-ignore-file
// The part of Apple's Network that the library uses. With it, the library's Apple code is type-checked on Linux
// (`.ci/apple`).
public import Dispatch

public final class NWPathMonitor {
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?
    public var currentPath: NWPath { NWPath(status: .satisfied) }
    public init() {}
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}

public struct NWPath: Sendable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
    public let status: Status
    public var isExpensive: Bool { false }
    public var isConstrained: Bool { false }
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool { false }
}

public struct NWInterface: Sendable {
    public enum InterfaceType: Sendable { case other, wifi, cellular, wiredEthernet, loopback }
}
