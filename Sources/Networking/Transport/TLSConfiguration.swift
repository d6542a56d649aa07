#if os(Linux)
    public import Foundation

    /// Whom a client trusts, and as whom it appears.
    public struct TLSConfiguration: Hashable, Sendable {
        /// Which authorities are believed.
        public var trust: Trust
        /// The server's public key must be one of these, besides being trusted; empty pins nothing.
        public var pins: [PublicKeyPin]
        /// The certificate that the client shows where a server asks for one.
        public var clientCertificate: ClientCertificate?
        /// The oldest version of TLS that is spoken.
        public var minimumVersion: Version

        /// Makes a configuration: the system's authorities and TLS 1.2 unless said otherwise.
        public init(
            trust: Trust = .system, pins: [PublicKeyPin] = [], clientCertificate: ClientCertificate? = nil,
            minimumVersion: Version = .v1_2
        ) {
            self.trust = trust
            self.pins = pins
            self.clientCertificate = clientCertificate
            self.minimumVersion = minimumVersion
        }

        /// Which authorities are believed.
        public enum Trust: Hashable, Sendable {
            /// Those of the system.
            case system
            /// Those in a file of PEM certificates, and no others.
            case file(URL)
            /// These PEM certificates, and no others.
            case pem(Data)
        }

        /// A version of TLS.
        public enum Version: Hashable, Sendable {
            /// TLS 1.2 (RFC 5246).
            case v1_2
            /// TLS 1.3 (RFC 8446).
            case v1_3
        }

        /// A client's certificate and its private key, as PEM files.
        public struct ClientCertificate: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
            /// The certificate, with those of its chain after it.
            public var certificate: URL
            /// The private key; nil where it is in the certificate's file.
            public var key: URL?
            /// What the key is locked with.
            public var passphrase: String?

            /// Makes a client certificate.
            public init(certificate: URL, key: URL? = nil, passphrase: String? = nil) {
                self.certificate = certificate
                self.key = key
                self.passphrase = passphrase
            }

            /// Nothing but the description, for `dump` and its like.
            public var customMirror: Mirror { Mirror(self, children: ["certificate": description]) }

            /// The certificate's path, never the passphrase.
            public var description: String { "client certificate \(certificate.path)" }
        }
    }
#endif
