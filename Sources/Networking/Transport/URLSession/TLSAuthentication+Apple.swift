#if canImport(Darwin)
    import Foundation
    import Security

    /// A responder to TLS challenges, as configured by a ``TLSConfiguration``.
    final class TLSAuthentication: @unchecked Sendable {  // because nothing changes after init
        private let pins: [TLSConfiguration.Pin]
        /// The authorities to trust; nil if the authorities of the system are trusted.
        private let authorities: [SecCertificate]?
        private let client: URLCredential?
        private let isTrusted: @Sendable (SecTrust, String) -> Bool
        private let evaluation = DispatchQueue(label: "networking.tls", qos: .userInitiated, attributes: .concurrent)

        /// - Throws: ``NetworkError`` if the system cannot read a setting. The error names the setting.
        init(_ tls: TLSConfiguration, isTrusted: @escaping @Sendable (SecTrust, String) -> Bool) throws(NetworkError) {
            pins = tls.pins
            self.isTrusted = isTrusted
            var authorities: [SecCertificate]?
            for data in try tls.authorities ?? [] {
                guard let certificate = SecCertificateCreateWithData(nil, data as CFData) else {
                    throw NetworkError(.invalidRequest, reason: "tls.trust: a certificate cannot be read")
                }
                authorities = (authorities ?? []) + [certificate]
            }
            self.authorities = authorities
            client = try tls.clientCertificate.map { certificate throws(NetworkError) in
                try TLSAuthentication.credential(certificate)
            }
        }

        /// Evaluates each challenge on a queue of its own, because the system may ask other servers for certificates
        /// and revocations.
        var handler: AuthenticationResponse.Handler {
            { [self] challenge, queue, respond in
                let challenge = Passed(value: challenge)
                evaluation.async { [self] in
                    let response = Passed(value: response(to: challenge.value))
                    queue.addOperation { respond(response.value) }
                }
            }
        }

        private struct Passed<Value>: @unchecked Sendable {  // because one thread passes the value to the next one
            let value: Value
        }

        private func response(to challenge: URLAuthenticationChallenge) -> AuthenticationResponse {
            let space = challenge.protectionSpace
            if space.authenticationMethod == NSURLAuthenticationMethodClientCertificate {
                return client.map { .credential($0) } ?? .systemDefault
            }
            guard let trust = space.serverTrust else { return .systemDefault }
            if let failure = failure(of: trust, host: space.host) { return .failure(failure) }
            return authorities == nil ? .systemDefault : .credential(URLCredential(trust: trust))
        }

        private func failure(of trust: SecTrust, host: String) -> NetworkError? {
            if let authorities {
                guard SecTrustSetAnchorCertificates(trust, authorities as CFArray) == errSecSuccess,
                    SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess
                else {
                    return NetworkError(.tlsUntrusted, reason: "the system did not accept the authorities of tls.trust")
                }
            }
            if authorities != nil || !pins.isEmpty {
                var error: CFError?
                guard SecTrustEvaluateWithError(trust, &error) else {
                    return NetworkError(.tlsUntrusted, underlying: error)
                }
            }
            guard pins.isEmpty || isPinned(trust) else {
                return NetworkError(.tlsUntrusted, reason: "the server's public key matches no pin")
            }
            guard isTrusted(trust, host) else {
                return NetworkError(.tlsUntrusted, reason: "the app's own check refused the server")
            }
            return nil
        }

        private func isPinned(_ trust: SecTrust) -> Bool {
            guard let key = SecTrustCopyKey(trust), let data = SecKeyCopyExternalRepresentation(key, nil) as Data?,
                let attributes = SecKeyCopyAttributes(key) as? [String: Any],
                let kind = attributes[kSecAttrKeyType as String] as? String
            else { return false }
            let bits = attributes[kSecAttrKeySizeInBits as String] as? Int ?? 0
            let isRSA = kind == kSecAttrKeyTypeRSA as String
            let pin = try? TLSConfiguration.Pin(isRSA ? .rsa(data) : .curve(data, bits: bits))
            return pin.map { pins.contains($0) } ?? false
        }

        private static func credential(
            _ certificate: TLSConfiguration.ClientCertificate
        ) throws(NetworkError) -> URLCredential {
            guard case .pkcs12(let data) = certificate.source else {
                throw NetworkError(.invalidRequest, reason: "tls.clientCertificate: expected PKCS #12, found PEM")
            }
            let options = [kSecImportExportPassphrase as String: certificate.passphrase ?? ""]
            var items: CFArray?
            let status = SecPKCS12Import(data as CFData, options as CFDictionary, &items)
            guard status == errSecSuccess, let item = (items as? [[String: Any]])?.first,
                let value = item[kSecImportItemIdentity as String].map({ $0 as AnyObject }),
                CFGetTypeID(value) == SecIdentityGetTypeID()
            else {
                throw NetworkError(
                    .invalidRequest,
                    reason: "tls.clientCertificate: the PKCS #12 data cannot be read (OSStatus \(status))")
            }
            let chain = item[kSecImportItemCertChain as String] as? [SecCertificate] ?? []
            let identity = unsafeDowncast(value, to: SecIdentity.self)  // because its type was just checked
            // The chain begins with the identity's own certificate, which must not be sent twice.
            return URLCredential(identity: identity, certificates: Array(chain.dropFirst()), persistence: .forSession)
        }
    }
#endif
