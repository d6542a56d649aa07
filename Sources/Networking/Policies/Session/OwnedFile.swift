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
    /// Writes bytes beside a file and puts them in its place in one step, so that every reader, also one after a loss
    /// of power, finds the old or the new ones. Only one caller at a time may do so.
    static func replace(_ path: String, with bytes: Data) throws {
        let new = path + ".new"
        let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw fault(new) }
        do {
            do {
                try write(bytes, to: file)
                guard synchronizeFile(file) else { throw fault(new) }
            } catch {
                close(file)
                throw error
            }
            guard close(file) == 0, rename(new, path) == 0 else { throw fault(path) }
        } catch {
            unlink(new)
            throw error
        }
        try synchronizeFolder(of: path)
    }

    /// Removes a file, if it is there, and what a process that was ended has left beside it.
    static func remove(_ path: String) throws {
        removeRemains(of: path)
        guard unlink(path) == 0 || errno == ENOENT else { throw fault(path) }
        try synchronizeFolder(of: path)
    }

    /// Removes what a process has left that was ended while it wrote.
    static func removeRemains(of path: String) {
        unlink(path + ".new")
    }

    /// The error of the last call of the system.
    static func fault(_ path: String) -> any Error {
        let code = POSIXErrorCode(rawValue: errno) ?? .EIO
        return CocoaError(
            .fileWriteUnknown, userInfo: [NSFilePathErrorKey: path, NSUnderlyingErrorKey: POSIXError(code)])
    }

    private static func write(_ bytes: Data, to file: Int32) throws {
        try bytes.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let count = pwrite(file, bytes.baseAddress.map { $0 + start }, bytes.count - start, off_t(start))
                guard count > 0 else { throw fault("") }
                start += count
            }
        }
    }

    /// A new name is on stable storage when its folder is.
    private static func synchronizeFolder(of path: String) throws {
        let folder = (path as NSString).deletingLastPathComponent
        let file = open(folder.isEmpty ? "." : folder, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw fault(folder) }
        defer { close(file) }
        guard synchronizeFile(file) else { throw fault(folder) }
    }
}
