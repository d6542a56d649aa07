import Foundation

#if !canImport(CryptoKit)
    /// A SHA-256 digest that is computed piece by piece with the system's libcrypto. The library is loaded at its first
    /// use.
    final class SHA256Digest {
        private let library: Library
        private let context: OpaquePointer

        /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/checksumUnavailable`` if the system has no libcrypto,
        ///   or if libcrypto cannot compute SHA-256.
        init() throws {
            guard let library = Library.shared, let context = library.make() else {
                throw NetworkError(
                    .checksumUnavailable,
                    reason: "SHA-256 is not available: neither libcrypto.so.3 nor libcrypto.so.1.1 can be used")
            }
            self.library = library
            self.context = context
            guard library.begin(context, library.sha256(), nil) == 1 else {
                throw NetworkError(
                    .checksumUnavailable, reason: "SHA-256 is not available: libcrypto cannot compute it")
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
            let sha256: @convention(c) () -> OpaquePointer?
            let begin: @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32
            let update: @convention(c) (OpaquePointer?, UnsafeRawPointer?, Int) -> Int32
            let finish:
                @convention(c) (OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt32>?) -> Int32

            static let shared = Library()

            private init?() {
                guard let handle = dlopen("libcrypto.so.3", RTLD_NOW) ?? dlopen("libcrypto.so.1.1", RTLD_NOW),
                    let make = dlsym(handle, "EVP_MD_CTX_new"), let free = dlsym(handle, "EVP_MD_CTX_free"),
                    let sha256 = dlsym(handle, "EVP_sha256"), let begin = dlsym(handle, "EVP_DigestInit_ex"),
                    let update = dlsym(handle, "EVP_DigestUpdate"), let finish = dlsym(handle, "EVP_DigestFinal_ex")
                else { return nil }
                // The types are those of the declarations in openssl/evp.h.
                self.make = unsafeBitCast(make, to: (@convention(c) () -> OpaquePointer?).self)
                self.free = unsafeBitCast(free, to: (@convention(c) (OpaquePointer?) -> Void).self)
                self.sha256 = unsafeBitCast(sha256, to: (@convention(c) () -> OpaquePointer?).self)
                self.begin = unsafeBitCast(
                    begin, to: (@convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32).self)
                self.update = unsafeBitCast(
                    update, to: (@convention(c) (OpaquePointer?, UnsafeRawPointer?, Int) -> Int32).self)
                self.finish = unsafeBitCast(
                    finish,
                    to: (@convention(c) (
                        OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt32>?
                    ) -> Int32).self)
            }
        }
    }
#endif
