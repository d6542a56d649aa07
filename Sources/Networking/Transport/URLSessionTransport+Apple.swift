#if canImport(Security)
    public import Security

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #else
        public import Foundation
    #endif

    extension URLSessionTransport {
        /// Makes a transport whose servers must please a hook of the app's, besides being trusted by the system: for pinning, with a library such as
        /// TrustKit or by hand. The hook can refuse what the system would accept, and never the other way round.
        ///
        /// - Parameters:
        ///   - configuration: The session's configuration, copied.
        ///   - limits: The bounds of what is held in memory.
        ///   - isTrusted: Is asked once a connection, on the session's queue, with the server's trust object and host. A call to a server that is
        ///     refused ends with ``NetworkError/Kind/tlsUntrusted``.
        public convenience init(
            configuration: URLSessionConfiguration = .withoutPolicy, limits: Limits = Limits(),
            trusting isTrusted: @escaping @Sendable (_ trust: SecTrust, _ host: String) -> Bool
        ) {
            self.init(configuration: configuration, limits: limits) { challenge in
                let space = challenge.protectionSpace
                // Nil where it is not the server that has to prove who it is.
                guard let trust = space.serverTrust else { return true }
                return isTrusted(trust, space.host)
            }
        }
    }
#endif
