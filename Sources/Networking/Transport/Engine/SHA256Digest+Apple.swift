#if canImport(Darwin)
    import CryptoKit
    import Foundation

    /// A SHA-256 digest that is computed piece by piece.
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
