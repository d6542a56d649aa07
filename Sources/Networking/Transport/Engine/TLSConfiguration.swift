public import Foundation

/// The certificates that a client trusts, its own certificate, and the oldest version of TLS that it accepts. The
/// configuration has the same meaning for every engine.
///
/// ```swift
/// var tls = TLSConfiguration()
/// tls.trust = .file(companyAuthority)
/// tls.pins = [pin, spare]
/// let transport = try CurlTransport(CurlTransport.Configuration(tls: tls))  // on Linux
/// let transport = try URLSessionTransport(tls: tls)               // on Apple platforms
/// ```
///
/// If an engine does not support a setting, the transport's initializer throws an error of kind
/// ``NetworkError/Kind/invalidRequest`` that names the setting. `URLSession` on Linux supports none of these settings.
///
/// On Apple platforms, App Transport Security checks servers as well. If the device does not trust the authority of a
/// server, the server's domain needs an exception in the app's `Info.plist`.
public struct TLSConfiguration: Hashable, Sendable {
    /// The certificate authorities that the client trusts. Default: the authorities of the system.
    public var trust: Trust
    /// The pins of the accepted public keys. The server's key must match one of the pins, and its certificate must be
    /// trusted, too. Default: none, which means that any key is accepted.
    public var pins: [TLSConfiguration.Pin]
    /// The certificate that the client sends to a server that requests one. A request that was redirected to another
    /// origin does not send it there. Default: none.
    public var clientCertificate: ClientCertificate?
    /// The oldest version of TLS that the client accepts. Default: TLS 1.2.
    public var minimumVersion: Version

    /// Creates a configuration.
    public init(
        trust: Trust = .system, pins: [TLSConfiguration.Pin] = [], clientCertificate: ClientCertificate? = nil,
        minimumVersion: Version = .v1_2
    ) {
        self.trust = trust
        self.pins = pins
        self.clientCertificate = clientCertificate
        self.minimumVersion = minimumVersion
    }

    /// The certificate authorities that a client trusts.
    public enum Trust: Hashable, Sendable {
        /// The authorities of the system.
        case system
        /// The authorities in a file of PEM certificates, and no others.
        case file(URL)
        /// The authorities in PEM data, and no others. libcurl 7.77 and later support this; older versions read files
        /// only.
        case pem(Data)
    }

    /// A version of TLS.
    public enum Version: Hashable, Sendable {
        /// TLS 1.2 (RFC 5246).
        case v1_2
        /// TLS 1.3 (RFC 8446).
        case v1_3
    }

    /// A client's certificate and its private key.
    public struct ClientCertificate: Hashable, Sendable, RedactedReflectable {
        enum Source: Hashable, Sendable {
            case pem(certificate: URL, key: URL?)
            case pkcs12(Data)
        }

        let source: Source
        let passphrase: String?

        /// Creates a client certificate from PEM files, which `URLSession` cannot read.
        ///
        /// - Parameters:
        ///   - certificate: The file with the certificate, followed by the certificates of its chain.
        ///   - key: The file with the private key; nil if the key is in the certificate's file.
        ///   - passphrase: The passphrase of the private key.
        public init(certificate: URL, key: URL? = nil, passphrase: String? = nil) {
            source = .pem(certificate: certificate, key: key)
            self.passphrase = passphrase
        }

        /// Creates a client certificate from the contents of a PKCS #12 file (`.p12`, `.pfx`; RFC 7292). Every
        /// engine with TLS settings can read it. On macOS, the system adds the certificate to the user's keychain.
        ///
        /// - Parameters:
        ///   - data: The file's contents.
        ///   - passphrase: The file's passphrase.
        public init(pkcs12 data: Data, passphrase: String) {
            source = .pkcs12(data)
            self.passphrase = passphrase
        }

        /// The path of the certificate's file, or the number of bytes of the PKCS #12 data; never the passphrase.
        var redactedDescription: String {
            switch source {
            case .pem(let certificate, _): "client certificate \(certificate.path)"
            case .pkcs12(let data): "client certificate of \(data.count) bytes"
            }
        }
    }
}

extension TLSConfiguration {
    /// Checks that the certificates and keys can be read.
    ///
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest``. The error names the setting that cannot
    ///   be read.
    func validate() throws(NetworkError) {
        switch trust {
        case .system: break
        case .file(let file): _ = try TLSConfiguration.pem(in: file, "tls.trust", "CERTIFICATE-----")
        case .pem(let data): try TLSConfiguration.check(data, "tls.trust", "the data", "CERTIFICATE-----")
        }
        switch clientCertificate?.source {
        case nil: break
        case .pem(let certificate, let key):
            _ = try TLSConfiguration.pem(in: certificate, "tls.clientCertificate")
            if let key { _ = try TLSConfiguration.pem(in: key, "tls.clientCertificate.key") }
        case .pkcs12(let data):
            // PKCS #12 data is a sequence in DER (RFC 7292 section 4).
            try NetworkError.require(data.first == 0x30, "tls.clientCertificate: expected PKCS #12 data")
        }
    }

    /// The certificates of ``trust`` in DER, for an engine that does not read PEM; nil if ``trust`` is
    /// ``Trust/system``.
    var authorities: [Data]? {
        get throws(NetworkError) {
            let pem: Data
            switch trust {
            case .system: return nil
            case .file(let file): pem = try TLSConfiguration.pem(in: file, "tls.trust", "CERTIFICATE-----")
            case .pem(let data): pem = data
            }
            let certificates = TLSConfiguration.certificates(in: pem)
            try NetworkError.require(!certificates.isEmpty, "tls.trust: expected certificates in PEM, found none")
            return certificates
        }
    }

    private static func pem(
        in file: URL, _ part: String, _ label: String = "-----BEGIN "
    ) throws(NetworkError) -> Data {
        try NetworkError.require(file.isFileURL, "\(part): expected a file URL, found \(file.withoutSecrets)")
        let bytes: Data
        do { bytes = try Data(contentsOf: file) } catch {
            throw NetworkError(
                .invalidRequest, reason: "\(part): the file \(file.path) cannot be read", underlying: error)
        }
        try check(bytes, part, "the file \(file.path)", label)
        return bytes
    }

    private static func check(_ pem: Data, _ part: String, _ place: String, _ label: String) throws(NetworkError) {
        let isThere = pem.range(of: Data(label.utf8)) != nil
        let wanted = label.hasPrefix("CERTIFICATE") ? "certificates in PEM" : "PEM"
        try NetworkError.require(isThere, "\(part): expected \(wanted) in \(place), found none")
    }

    /// Returns the certificates of a PEM file (RFC 7468) in DER. Characters that are not base64 are ignored.
    private static func certificates(in pem: Data) -> [Data] {
        String(decoding: pem, as: UTF8.self)
            .components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst()
            .compactMap { $0.components(separatedBy: "-----END CERTIFICATE-----").first }
            .compactMap { Data(base64Encoded: $0, options: .ignoreUnknownCharacters) }
            .filter { !$0.isEmpty }
    }
}
