import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Files that only their owner can read.
enum OwnedFile {
    /// Writes bytes to a new file next to the old file, and replaces the old file with the new file in one step. Every
    /// reader finds either the old or the new bytes, even after a power failure. Only one caller at a time may call
    /// this function.
    static func replace(_ path: String, with bytes: Data) throws {
        let new = path + ".new"
        let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw FileLock.fault(new) }
        do {
            do {
                guard write(bytes, to: file), synchronizeFile(file) else { throw FileLock.fault(new) }
            } catch {
                close(file)
                throw error
            }
            guard close(file) == 0, rename(new, path) == 0 else { throw FileLock.fault(path) }
        } catch {
            unlink(new)
            throw error
        }
        try synchronizeFolder(of: path)
    }

    /// Removes a file if it exists, and the temporary file of a process that was terminated while it wrote.
    static func remove(_ path: String) throws {
        removeRemains(of: path)
        guard unlink(path) == 0 || errno == ENOENT else { throw FileLock.fault(path) }
        try synchronizeFolder(of: path)
    }

    /// Removes the temporary file of a process that was terminated while it wrote.
    static func removeRemains(of path: String) {
        unlink(path + ".new")
    }

    /// Writes bytes to an open file. Returns false if not all bytes were written; `errno` then contains the error.
    private static func write(_ bytes: Data, to file: Int32) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let count = pwrite(file, bytes.baseAddress.map { $0 + start }, bytes.count - start, off_t(start))
                guard count > 0 else { return false }
                start += count
            }
            return true
        }
    }

    /// Synchronizes the folder of a file. A new name is on stable storage only after its folder has been synchronized.
    private static func synchronizeFolder(of path: String) throws {
        let folder = (path as NSString).deletingLastPathComponent
        let file = open(folder.isEmpty ? "." : folder, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw FileLock.fault(folder) }
        defer { close(file) }
        guard synchronizeFile(file) else { throw FileLock.fault(folder) }
    }
}
