public import Foundation

/// A probe that sends an HTTP request to a server to find out whether the server is reachable. It also detects a
/// captive portal, such as in a hotel or a train.
///
/// Request a resource with a status that a portal does not imitate, for example 204.
///
/// ```swift
/// let reachability = ReachabilityService(probe: HTTPProbe(url: api.appendingPathComponent("ping")))
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
            return isFromPortal(response.status) ? .captivePortal : InterfaceProbe.reachableStatus
        } catch let error as NetworkError {
            switch error.kind {
            case .tlsUntrusted: return .captivePortal
            default: return .notReachable
            }
        } catch {
            return .notReachable
        }
    }

    private func isFromPortal(_ status: HTTPStatus) -> Bool {
        guard status != expected else { return false }
        return status.isRedirection || status.isSuccessful || status == .networkAuthenticationRequired
    }
}
