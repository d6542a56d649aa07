#if canImport(CryptoKit)
    import CryptoKit
    import Foundation

    /// Computes a SHA-256 sum.
    final class SHA256Digest {
        private var hash = SHA256()

        init() throws {}

        func update(_ data: Data) {
            hash.update(data: data)
        }

        func finish() -> Data {
            Data(hash.finalize())
        }
    }
#endif
