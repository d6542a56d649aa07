public import Foundation

/// Asks a server over HTTP whether it is there, and notices who answers in its place: a captive portal, as hotels and
/// trains have them.
///
/// Ask for something that answers with a status that a portal does not know: 204, as the usual addresses for this
/// purpose do.
///
/// ```swift
/// let reachability = ReachabilityService(probe: HTTPProbe(url: api.appendingPathComponent("ping")))
/// ```
public struct HTTPProbe: ReachabilityProbe {
    private let url: URL
    private let expected: HTTPStatus
    private let timeout: Duration
    private let transport: any Transport

    /// Makes a probe.
    ///
    /// - Parameters:
    ///   - url: What to ask for, with GET.
    ///   - expected: The status that only the right server returns. Default: 204.
    ///   - timeout: How long connecting may take, and how long nothing may move.
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

    /// Asks. Reachable is a server that answers as expected, or with an error of its own; a redirect, another
    /// success, 511, or a certificate that nobody trusts comes from a portal.
    public func status() async -> ReachabilityStatus {
        let timeouts = HTTPRequest.Timeouts(idle: timeout, connect: timeout)
        let request = HTTPRequest(.get, url, headers: [.cacheControl: "no-store"], timeouts: timeouts)
        do {
            let response = try await transport.send(request, delivering: .streamed)
            return isFromPortal(response.status) ? .captivePortal : InterfaceProbe.wayOut
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
