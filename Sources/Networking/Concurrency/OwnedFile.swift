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
        let isWritten = bytes.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) == $0.count }
        guard isWritten, close(file) == 0, rename(beside, path) == 0 else {
            let fault = fault
            unlink(beside)
            throw fault
        }
    }

    private static var fault: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
