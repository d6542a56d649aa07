#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// The capabilities of `URLSession` that the transport relies on, by platform. The code for each platform is in
/// `SessionPlatform+Apple.swift` and `SessionPlatform+Linux.swift`.
struct SessionPlatform: Sendable {
    /// Whether `URLSession` sends files and streams without loading them into memory. On Linux, `URLSession` loses or
    /// repeats files and streams.
    let streamsUploads: Bool
    /// Whether suspending a task stops the server from sending. On Linux, suspending a task restarts the request.
    let holdsServersBack: Bool
    /// Whether `URLSession` reports the server's certificate, so that connecting over TLS can be distinguished from
    /// waiting for a response.
    let reportsCertificates: Bool
    /// Whether `URLSession` opens WebSockets. On Linux, that depends on how libcurl was built.
    let opensWebSockets: Bool

    static let apple = SessionPlatform(
        streamsUploads: true, holdsServersBack: true, reportsCertificates: true, opensWebSockets: true)
    static let linux = SessionPlatform(
        streamsUploads: false, holdsServersBack: false, reportsCertificates: false, opensWebSockets: false)

    /// Returns two numbers of bytes: how many may wait for a slow reader before the server must stop sending, and how
    /// many may still arrive after that.
    func buffers(_ limits: URLSessionTransport.Limits) -> (pipe: Int, backlog: Int) {
        guard holdsServersBack else { return (limits.bufferedBytes, 0) }
        let pipe = min(limits.bufferedBytes, 256 << 10)
        return (pipe, max(limits.bufferedBytes - pipe, 1 << 20))
    }

    /// Returns the limit that applies until there is a sign of a connection; nil if only the idle timeout applies.
    ///
    /// `URLSession` has no connect timeout. The limit is twice the connect timeout of the request. On a reused
    /// connection, or on a connection without TLS, this time includes the server's time to respond. If a call has its
    /// own idle timeout, only that timeout applies.
    func connectingLimit(_ timeouts: HTTPRequest.Timeouts) -> Duration? {
        guard reportsCertificates, timeouts.effectiveIdle == HTTPRequest.Timeouts.standard.idle else { return nil }
        return timeouts.effectiveConnect * 2
    }
}

/// The response of a session to an authentication challenge.
enum AuthenticationResponse {
    /// Responds to the challenges of a session. The closure runs on the session's queue, and must not block it, because
    /// all transfers of the session wait for this queue.
    ///
    /// - Parameters:
    ///   - queue: The session's queue.
    ///   - respond: A closure to call once on the session's queue, at once or later.
    typealias Handler =
        @Sendable (
            _ challenge: URLAuthenticationChallenge, _ queue: OperationQueue,
            _ respond: @escaping @Sendable (AuthenticationResponse) -> Void
        ) -> Void

    /// The default handling of the system.
    case systemDefault
    /// The given credential.
    case credential(URLCredential)
    /// No credential. The 401 or 407 that the server has sent is the response.
    case responseAsReceived
    /// No credential. The call ends with the given error.
    case failure(NetworkError)
}

extension URLSessionConfiguration {
    /// - Throws: An error if `httpAdditionalHeaders` contains credentials, which a redirect would send to other
    ///   origins.
    func requireNoSecrets() throws(NetworkError) {
        for name in (httpAdditionalHeaders ?? [:]).keys {
            let name = HTTPHeader.Name("\(name)")
            try NetworkError.require(
                !name.isSensitive,
                "configuration.httpAdditionalHeaders: \(name) would be sent to every server; "
                    + "use the headers of the environment")
        }
    }

    /// An ephemeral configuration without the policies that the library itself implements: no cache, no cookies and no
    /// stored credentials. It allows up to 512 connections to a host, because the library has its own limits. The
    /// configuration requires TLS 1.2 or later, except on Linux, where Foundation has no such setting.
    public static var withoutPolicy: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.httpMaximumConnectionsPerHost = 512
        configuration.require(.v1_2)
        return configuration
    }
}
