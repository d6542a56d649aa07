#if os(Linux)
    import Foundation

    /// The SHA-256 digest of a server's public key, to trust that key only (RFC 7469 section 2.4).
    ///
    /// ```sh
    /// openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
    /// ```
    public struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
        /// The digest in base64.
        public let base64: String

        /// Makes a pin of `sha256//…` or of the base64 alone; nil where it is no digest of 32 bytes.
        public init?(_ text: String) {
            let base64 = text.hasPrefix("sha256//") ? String(text.dropFirst("sha256//".count)) : text
            guard Data(base64Encoded: base64)?.count == 32 else { return nil }
            self.base64 = base64
        }

        /// The pin as libcurl and curl write it: `sha256//…`.
        public var description: String { "sha256//\(base64)" }
    }
#endif
