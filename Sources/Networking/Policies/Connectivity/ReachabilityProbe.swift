public import Foundation

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
    /// Returns the status of the network after a check that may take time. The method does not throw. If the network
    /// cannot be reached, it returns ``ReachabilityStatus/notReachable``, whatever the reason is.
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
    public func quickStatus() -> ReachabilityStatus { ReachabilityService.InterfaceProbe().quickStatus() }
    /// Does nothing. This is right for a probe that cannot detect changes itself.
    public func onChange(_ wake: @escaping @Sendable () -> Void) {}
}

extension ReachabilityService {
    /// A probe that sends an HTTP request to a server to find out whether the server is reachable. It also detects a
    /// captive portal, such as in a hotel or a train.
    ///
    /// Request a resource to which the server responds with a status that a portal does not imitate, for example 204.
    ///
    /// ```swift
    /// let ping = api.appendingPathComponent("ping")
    /// let reachability = ReachabilityService(probe: ReachabilityService.HTTPProbe(url: ping))
    /// ```
    public struct HTTPProbe: ReachabilityProbe {
        private let url: URL
        private let expected: HTTPStatus
        private let timeout: Duration
        private let transport: any Transport

        /// Creates a probe.
        ///
        /// - Parameters:
        ///   - url: The URL to request with GET.
        ///   - expected: The status that only the right server returns. Default: 204.
        ///   - timeout: The connect timeout and the idle timeout of the request. Default: 5 seconds.
        ///   - transport: The transport that sends the request.
        public init(
            url: URL, expecting expected: HTTPStatus = .noContent, timeout: Duration = .seconds(5),
            transport: any Transport
        ) {
            self.url = url
            self.expected = expected
            self.timeout = timeout
            self.transport = transport
        }

        /// Sends the request. The network is reachable if the server returns the expected status or an error status. A
        /// redirect, another successful status, 511 or an untrusted certificate means a captive portal.
        public func status() async -> ReachabilityStatus {
            let timeouts = HTTPRequest.Timeouts(idle: timeout, connect: timeout)
            let request = HTTPRequest(.get, url, headers: [.cacheControl: "no-store"], timeouts: timeouts)
            do {
                let response = try await transport.send(request, delivering: .streamed)
                return isFromPortal(response.status)
                    ? .captivePortal : ReachabilityService.InterfaceProbe.reachableStatus
            } catch {
                return (error as? NetworkError)?.kind == .tlsUntrusted ? .captivePortal : .notReachable
            }
        }

        private func isFromPortal(_ status: HTTPStatus) -> Bool {
            guard status != expected else { return false }
            return status.isRedirection || status.isSuccessful || status == .networkAuthenticationRequired
        }
    }
}

extension ReachabilityService {
    /// A probe that opens a TCP connection to a host and closes it. The network is reachable if the host accepts the
    /// connection in time.
    ///
    /// A host that is neither a valid name nor an address is not reachable. The work runs on a dispatch queue and
    /// blocks no task.
    public struct TCPConnectionProbe: ReachabilityProbe {
        let host: String
        let port: UInt16
        private let timeout: Duration

        /// Creates a probe.
        ///
        /// - Parameters:
        ///   - host: A name, an IPv4 or IPv6 address, or a URL. Only the host and the port of a URL are used. A URL
        ///     without a port means port 443 for https and 80 for http.
        ///   - port: The port, if the host is not a URL. Default: 443.
        ///   - timeout: The maximum time for connecting to each address of the host. For name resolution, the time
        ///     limit of the system's resolver applies. Default: 5 seconds.
        public init(host: String, port: UInt16 = 443, timeout: Duration = .seconds(5)) {
            let origin = host.contains("://") ? URL(string: host).flatMap { HTTPOrigin($0) } : nil
            self.host = origin?.host ?? host
            self.port = origin.flatMap { UInt16(exactly: $0.port) } ?? port
            self.timeout = timeout
        }

        /// Tries to connect to each address of the host until one connection succeeds.
        public func status() async -> ReachabilityStatus {
            let isConnected = await withCheckedContinuation { continuation in
                DispatchQueue.global(qos: .utility).async { continuation.resume(returning: connectsToAnyAddress()) }
            }
            return isConnected ? ReachabilityService.InterfaceProbe.reachableStatus : .notReachable
        }

        private func connectsToAnyAddress() -> Bool {
            var hints = addrinfo()
            #if canImport(Darwin)
                hints.ai_socktype = SOCK_STREAM
            #else
                hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            #endif
            var list: UnsafeMutablePointer<addrinfo>?
            guard getaddrinfo(host, "\(port)", &hints, &list) == 0, let first = list else { return false }
            defer { freeaddrinfo(first) }
            return sequence(first: first) { $0.pointee.ai_next }.contains { connects(to: $0.pointee) }
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
}
