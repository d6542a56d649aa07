import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What `URLSession` can be relied on for, by platform. The code for each platform is in `SessionPlatform+Apple.swift`
/// and `SessionPlatform+Linux.swift`.
struct SessionPlatform: Sendable {
    /// Whether it sends files and streams without keeping them in memory. On Linux it loses or repeats them.
    let streamsUploads: Bool
    /// Whether a task that is suspended holds the server back. On Linux the request begins again.
    let holdsServersBack: Bool
    /// Whether it reports the server's certificate, so that connecting over TLS can be told from waiting for a
    /// response.
    let reportsCertificates: Bool

    static let apple = SessionPlatform(streamsUploads: true, holdsServersBack: true, reportsCertificates: true)
    static let linux = SessionPlatform(streamsUploads: false, holdsServersBack: false, reportsCertificates: false)

    /// The number of bytes that wait for a slow reader before the server is held back, and the number that may still
    /// arrive then.
    func buffers(_ limits: URLSessionTransport.Limits) -> (pipe: Int, backlog: Int) {
        guard holdsServersBack else { return (limits.bufferedBytes, 0) }
        let pipe = min(limits.bufferedBytes, 256 << 10)
        return (pipe, max(limits.bufferedBytes - pipe, 1 << 20))
    }

    /// The limit before there is a sign of a connection; nil for none of its own.
    ///
    /// `URLSession` has no timeout for connecting. Twice the timeout leaves a server time for its response on a
    /// connection that was kept, or that has no TLS. A call with an idle timeout of its own has that.
    func connectingLimit(_ timeouts: HTTPRequest.Timeouts) -> Duration? {
        guard reportsCertificates, timeouts.effectiveIdle == HTTPRequest.Timeouts.standard.idle else { return nil }
        return timeouts.effectiveConnect * 2
    }
}

/// How a session responds to an authentication challenge.
enum AuthenticationResponse {
    /// As the system does.
    case systemDefault
    /// With a credential.
    case credential(URLCredential)
    /// Not at all: the 401 or 407 that the server has sent is the response.
    case responseAsReceived
    /// By ending the call.
    case failure(NetworkError)
}
