#if canImport(Security)
    public import Foundation
    public import Security

    extension URLSessionTransport {
        /// Makes a transport with an additional check of servers, such as TrustKit's. The check can refuse a server
        /// that `tls` trusts, and cannot accept another one.
        ///
        /// - Parameters:
        ///   - configuration: The session's configuration, copied.
        ///   - tls: The certificates to trust, and the client's own.
        ///   - limits: The bounds of what is held in memory.
        ///   - isTrusted: Called once for each connection, on the session's queue, with the server's trust object and
        ///     host. A call to a server that is refused ends with ``NetworkError/Kind/tlsUntrusted``.
        public convenience init(
            configuration: URLSessionConfiguration = .withoutPolicy, tls: TLSConfiguration = TLSConfiguration(),
            limits: Limits = Limits(),
            trusting isTrusted: @escaping @Sendable (_ trust: SecTrust, _ host: String) -> Bool
        ) throws(NetworkError) {
            try tls.validate()
            let authentication = try TLSAuthentication(tls, isTrusted: isTrusted)
            self.init(
                configuration: try configuration.prepared(for: tls), limits: limits,
                authenticate: { authentication.response(to: $0) })
        }
    }
#endif
