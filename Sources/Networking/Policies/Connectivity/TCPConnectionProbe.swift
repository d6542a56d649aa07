import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A probe that opens a TCP connection to a host and closes it. The network is reachable if the host accepts the
/// connection in time.
///
/// A host that is neither a valid name nor an address is not reachable. The work runs on a dispatch queue and blocks no
/// task.
public struct TCPConnectionProbe: ReachabilityProbe {
    private let host: String
    private let port: UInt16
    private let timeout: Duration

    /// Creates a probe.
    ///
    /// - Parameters:
    ///   - host: A name, or an IPv4 or IPv6 address.
    ///   - port: The port. Default: 443.
    ///   - timeout: The maximum time for connecting to each address of the host. For name resolution, the time limit of
    ///     the system's resolver applies. Default: 5 seconds.
    public init(host: String, port: UInt16 = 443, timeout: Duration = .seconds(5)) {
        self.host = host
        self.port = port
        self.timeout = timeout
    }

    /// Tries to connect to each address of the host until one connection succeeds.
    public func status() async -> ReachabilityStatus {
        let isConnected = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { continuation.resume(returning: connectsToAnyAddress()) }
        }
        return isConnected ? InterfaceProbe.reachableStatus : .notReachable
    }

    private func connectsToAnyAddress() -> Bool {
        var hints = addrinfo()
        #if canImport(Darwin)
            hints.ai_socktype = SOCK_STREAM
        #else
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &list) == 0 else { return false }
        defer { freeaddrinfo(list) }
        var next = list
        while let entry = next {
            if connects(to: entry.pointee) { return true }
            next = entry.pointee.ai_next
        }
        return false
    }

    private func connects(to address: addrinfo) -> Bool {
        let descriptor = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
        guard descriptor >= 0 else { return false }
        defer { _ = close(descriptor) }
        guard fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0 else { return false }
        if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return true }
        guard errno == EINPROGRESS else { return false }
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let milliseconds = Int32(min(max(timeout / .milliseconds(1), 1), 600_000))
        var ready = poll(&entry, 1, milliseconds)
        while ready < 0, errno == EINTR { ready = poll(&entry, 1, milliseconds) }
        guard ready > 0 else { return false }
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0
    }
}
