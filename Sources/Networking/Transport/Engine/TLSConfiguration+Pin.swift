import Foundation

extension TLSConfiguration {
    /// The SHA-256 digest of a server's public key. With pins, a client trusts only servers with one of these keys
    /// (RFC 7469 section 2.4).
    ///
    /// ```sh
    /// openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
    /// ```
    public struct Pin: Hashable, Sendable, CustomStringConvertible {
        /// The digest in base64.
        let base64: String

        /// Creates a pin from `sha256//…`, `sha256/…`, or the base64 text alone. Returns nil if the text is not a
        /// digest of 32 bytes.
        public init?(_ text: String) {
            let text = text.trimmingCharacters(in: .whitespacesAndNewlines)  // the output of tools ends with a newline
            let prefix = ["sha256//", "sha256/"].first(where: text.hasPrefix) ?? ""
            let base64 = String(text.dropFirst(prefix.count))
            guard let digest = Data(base64Encoded: base64), digest.count == 32 else { return nil }
            self.init(digest: digest)
        }

        private init(digest: Data) {
            base64 = digest.base64EncodedString()
        }

        /// The pin in the form that libcurl and curl use: `sha256//…`.
        public var description: String { "sha256//\(base64)" }
    }
}

extension TLSConfiguration.Pin {
    /// A public key as Apple's Security framework exports it.
    enum ExportedKey {
        /// An RSA key in PKCS #1 (RFC 8017 section A.1.1).
        case rsa(Data)
        /// A point of an elliptic curve: P-256, P-384 or P-521 (ANSI X9.63), with the curve's number of bits.
        case curve(Data, bits: Int)

        /// The key in the form that certificates contain: SubjectPublicKeyInfo in DER (RFC 5280 section 4.1); nil if
        /// the curve is not known.
        var subjectPublicKeyInfo: Data? {
            switch self {
            case .rsa(let key):
                // rsaEncryption, NULL (RFC 3279 section 2.3.1)
                let identifier: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
                return ExportedKey.info(der(0x06, identifier) + [0x05, 0x00], key)
            case .curve(let point, let bits):
                guard let curve = ExportedKey.curves[bits] else { return nil }
                // ecPublicKey and the curve (RFC 5480 section 2.1)
                let identifier: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
                return ExportedKey.info(der(0x06, identifier) + der(0x06, curve), point)
            }
        }

        private static let curves: [Int: [UInt8]] = [
            256: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07], 384: [0x2B, 0x81, 0x04, 0x00, 0x22],
            521: [0x2B, 0x81, 0x04, 0x00, 0x23],
        ]

        private static func info(_ algorithm: [UInt8], _ key: Data) -> Data {
            Data(der(0x30, der(0x30, algorithm) + der(0x03, [0x00] + key)))
        }
    }

    /// Creates the pin of a key.
    ///
    /// - Returns: Nil if the kind of key is not known.
    /// - Throws: ``NetworkError`` if the system has no SHA-256.
    init?(_ key: ExportedKey) throws {
        guard let info = key.subjectPublicKeyInfo else { return nil }
        let digest = try MessageDigest(.sha256)
        digest.update(info)
        self.init(digest: digest.finish())
    }
}

/// Returns a value in DER (X.690 section 8.1).
private func der(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
    var length: [UInt8] = []
    var rest = contents.count
    while rest > 0 {
        length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
        rest >>= 8
    }
    let header = contents.count < 0x80 ? [UInt8(contents.count)] : [0x80 | UInt8(length.count)] + length
    return [tag] + header + contents
}
