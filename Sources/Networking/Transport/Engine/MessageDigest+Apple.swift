#if canImport(Darwin)
    import CryptoKit
    import Foundation

    /// A digest that is computed piece by piece.
    final class MessageDigest {
        private enum State {
            case sha256(SHA256)
            case sha1(Insecure.SHA1)
        }

        private var state: State

        init(_ algorithm: Algorithm) throws {
            state = algorithm == .sha256 ? .sha256(SHA256()) : .sha1(Insecure.SHA1())
        }

        func update(_ data: Data) {
            switch state {
            case .sha256(var hash):
                hash.update(data: data)
                state = .sha256(hash)
            case .sha1(var hash):
                hash.update(data: data)
                state = .sha1(hash)
            }
        }

        func finish() -> Data {
            switch state {
            case .sha256(let hash): Data(hash.finalize())
            case .sha1(let hash): Data(hash.finalize())
            }
        }
    }
#endif
