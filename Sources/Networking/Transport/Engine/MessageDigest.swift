import Foundation

extension MessageDigest {
    enum Algorithm: String {
        case sha256 = "SHA-256"
        /// Used only to detect accidental damage, because an attacker can find other bytes with the same digest.
        case sha1 = "SHA-1"
    }
}

#if !canImport(Darwin)
    /// A digest that is computed piece by piece with the system's libcrypto. The library is loaded at its first use.
    final class MessageDigest {
        private let library: Library
        private let context: OpaquePointer

        /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/checksumUnavailable`` if the system has no libcrypto,
        ///   or if libcrypto cannot compute the digest.
        init(_ algorithm: Algorithm) throws {
            guard let library = Library.shared, let context = library.make() else {
                throw NetworkError(
                    .checksumUnavailable,
                    reason:
                        "\(algorithm.rawValue) is not available: neither libcrypto.so.3 nor libcrypto.so.1.1 can be used"
                )
            }
            self.library = library
            self.context = context
            let function = algorithm == .sha256 ? library.sha256() : library.sha1()
            guard library.begin(context, function, nil) == 1 else {
                throw NetworkError(
                    .checksumUnavailable,
                    reason: "\(algorithm.rawValue) is not available: libcrypto cannot compute it")
            }
        }

        deinit {
            library.free(context)
        }

        func update(_ data: Data) {
            data.withUnsafeBytes { _ = library.update(context, $0.baseAddress, $0.count) }
        }

        func finish() -> Data {
            var sum = [UInt8](repeating: 0, count: 64)
            var count: UInt32 = 0
            _ = library.finish(context, &sum, &count)
            return Data(sum[..<Int(count)])
        }

        /// The functions of libcrypto's stable API, which versions 1.1 and 3 have in common.
        private struct Library: Sendable {
            let make: @convention(c) () -> OpaquePointer?
            let free: @convention(c) (OpaquePointer?) -> Void
            let sha256, sha1: @convention(c) () -> OpaquePointer?
            let begin: @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32
            let update: @convention(c) (OpaquePointer?, UnsafeRawPointer?, Int) -> Int32
            let finish:
                @convention(c) (OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt32>?) -> Int32

            static let shared = try? Library()

            private init() throws {
                let handle = dlopen("libcrypto.so.3", RTLD_NOW) ?? dlopen("libcrypto.so.1.1", RTLD_NOW)
                // The types of the functions are those of the declarations in openssl/evp.h.
                func function<Function>(_ name: String) throws -> Function {
                    guard let handle, let address = dlsym(handle, name) else { throw POSIXError(.ENOENT) }
                    return unsafeBitCast(address, to: Function.self)
                }
                make = try function("EVP_MD_CTX_new")
                free = try function("EVP_MD_CTX_free")
                sha256 = try function("EVP_sha256")
                sha1 = try function("EVP_sha1")
                begin = try function("EVP_DigestInit_ex")
                update = try function("EVP_DigestUpdate")
                finish = try function("EVP_DigestFinal_ex")
            }
        }
    }
#endif
