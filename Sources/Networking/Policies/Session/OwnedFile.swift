import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Files that nobody but their owner can read.
enum OwnedFile {
    /// Writes bytes beside a file and puts them in its place in one step, so that every reader finds the old or the new ones.
    static func replace(_ path: String, with bytes: Data) throws {
        let beside = "\(path).\(UUID().uuidString)"
        let file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw fault }
        do {
            do { try write(bytes, to: file) } catch {
                close(file)
                throw error
            }
            guard close(file) == 0, rename(beside, path) == 0 else { throw fault }
        } catch {
            unlink(beside)
            throw error
        }
    }

    private static func write(_ bytes: Data, to file: Int32) throws {
        try bytes.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let count = pwrite(file, bytes.baseAddress.map { $0 + start }, bytes.count - start, off_t(start))
                guard count > 0 else { throw fault }
                start += count
            }
        }
    }

    private static var fault: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
