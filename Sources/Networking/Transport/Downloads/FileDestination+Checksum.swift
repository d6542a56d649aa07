public import Foundation

extension FileDestination {
    /// The SHA-256 sum of a file's bytes.
    public struct Checksum: Hashable, Sendable, CustomStringConvertible {
        /// The 32 bytes of the sum.
        let bytes: Data

        /// Creates a checksum from its bytes.
        ///
        /// - Throws: ``NetworkError/Kind/invalidRequest`` if there are not exactly 32 bytes.
        public init(_ bytes: Data) throws {
            guard bytes.count == 32 else {
                throw NetworkError(.invalidRequest, reason: "checksum: expected 32 bytes, found \(bytes.count)")
            }
            self.bytes = bytes
        }

        /// Creates a checksum from 64 hexadecimal digits.
        ///
        /// - Throws: ``NetworkError/Kind/invalidRequest`` if the text is anything else.
        public init(hexadecimal text: String) throws {
            let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            guard text.utf8.count == 64, digits.count == 64 else {
                throw NetworkError(.invalidRequest, reason: "checksum: expected 64 hexadecimal digits")
            }
            bytes = Data(stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
        }

        /// The checksum as 64 hexadecimal digits in lower case.
        public var description: String {
            bytes.map { (($0 < 16) ? "0" : "") + String($0, radix: 16) }.joined()
        }

        /// - Throws: ``NetworkError/Kind/checksumMismatch`` if the file has another checksum.
        func verify(_ url: URL) async throws {
            let digest = try SHA256Digest()
            let file = try FileHandle(forReadingFrom: url)
            defer { try? file.close() }
            while let chunk = try file.read(upToCount: 1 << 20), !chunk.isEmpty {
                digest.update(chunk)
                try CallScope.check()
                await Task.yield()  // lets other calls use the thread
            }
            let sum = digest.finish()
            guard sum == bytes else {
                throw NetworkError(
                    .checksumMismatch,
                    reason: "the file's SHA-256 is \(try FileDestination.Checksum(sum)), not \(self)")
            }
        }
    }
}
