#if canImport(Security)
    public import Foundation
    public import Security

    extension URLSessionTransport {
        /// Creates a transport with an additional check of servers, such as TrustKit's. The check can refuse a server
        /// that `tls` trusts, but it cannot accept a server that `tls` does not trust.
        ///
        /// - Parameters:
        ///   - configuration: The session's configuration, which is copied.
        ///   - tls: The certificates to trust, and the client's own certificate.
        ///   - limits: The limits of the bytes in memory.
        ///   - isTrusted: A closure that checks a server. It is called once for each connection, on the session's
        ///     queue, with the server's trust object and host. If it returns false, the call ends with
        ///     ``NetworkError/Kind/tlsUntrusted``.
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
