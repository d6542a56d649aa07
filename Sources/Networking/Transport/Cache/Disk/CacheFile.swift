import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The body of a stored response in an open file. The bytes remain readable if the file is removed or replaced.
final class CacheFile: Sendable {
    private let descriptor: Int32
    /// The position of the body in the file.
    private let start: Int64
    /// The length of the body in bytes.
    let count: Int64

    /// Takes ownership of an open file.
    init(_ descriptor: Int32, start: Int64, count: Int64) {
        (self.descriptor, self.start, self.count) = (descriptor, start, count)
    }

    deinit {
        close(descriptor)
    }

    /// Returns bytes of the body; nil if they cannot be read.
    func read(_ range: Range<Int64>) -> Data? {
        CacheFile.read(descriptor, start + range.lowerBound..<start + range.upperBound).map { Data($0) }
    }

    /// Returns bytes of an open file; nil if they cannot be read.
    static func read(_ descriptor: Int32, _ range: Range<Int64>) -> [UInt8]? {
        let count = range.count
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count, let base = buffer.baseAddress {
                let read = pread(descriptor, base + filled, count - filled, off_t(range.lowerBound) + off_t(filled))
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { break }
                filled += read
            }
        }
        return bytes.count == count ? bytes : nil
    }
}
