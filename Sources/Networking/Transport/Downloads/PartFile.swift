import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The file that receives the bytes of a download until it is complete.
final class PartFile: @unchecked Sendable {  // because only one download writes it, one chunk after another
    private let descriptor: Int32
    private let fault: @Sendable (Int32) -> NetworkError
    /// The size in bytes.
    private(set) var size: Int64
    private var isOpen = true
    /// The size of the largest file that the process may write (`RLIMIT_FSIZE`). If the process writes a larger file,
    /// the system ends the process with a signal.
    private let largestSize: UInt64

    /// Opens a file, or creates it.
    ///
    /// - Parameters:
    ///   - isLocked: Whether the file is locked while it is open. If true, the file may exist already. The system
    ///     releases the lock when the process ends.
    ///   - fault: Converts an error code of the system into the library's error.
    ///   - largestSize: The largest file that may be written, in bytes; nil for the limit of the process.
    init(
        _ url: URL, isLocked: Bool, largestSize: UInt64? = nil, _ fault: @escaping @Sendable (Int32) -> NetworkError
    ) throws {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (isLocked ? 0 : O_EXCL)
        var status = stat()
        var opened: Int32?
        for _ in 0..<100 where opened == nil {
            let descriptor = open(url.path, flags, 0o644)
            guard descriptor >= 0 else { throw fault(errno) }
            if isLocked, flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                let code = errno
                systemClose(descriptor)
                throw fault(code)
            }
            var named = stat()
            guard fstat(descriptor, &status) == 0, stat(url.path, &named) == 0 || errno == ENOENT else {
                let code = errno
                systemClose(descriptor)
                throw fault(code)
            }
            guard status.st_ino == named.st_ino else {
                // Another download has moved the file to its target in the meantime. The file is no longer a part.
                systemClose(descriptor)
                continue
            }
            guard status.st_nlink < 2 else {
                // A process ended after it gave the file its final name and before it removed the old name. The file is
                // complete.
                unlink(url.path)
                systemClose(descriptor)
                continue
            }
            opened = descriptor
        }
        guard let descriptor = opened else { throw fault(EAGAIN) }
        self.descriptor = descriptor
        self.fault = fault
        self.largestSize = largestSize ?? UInt64(FileSizeLimit.current)
        size = Int64(status.st_size)
        lseek(descriptor, 0, Int32(SEEK_END))
    }

    deinit {
        close()
    }

    /// Truncates the file. The next bytes are written at its new end.
    func truncate(to size: Int64) throws {
        guard ftruncate(descriptor, off_t(size)) == 0, lseek(descriptor, off_t(size), Int32(SEEK_SET)) >= 0 else {
            throw fault(errno)
        }
        self.size = size
    }

    /// Appends bytes to the file.
    func append(_ chunk: Data) throws {
        guard UInt64(size) + UInt64(chunk.count) <= largestSize else { throw fault(EFBIG) }
        try chunk.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: bytes[written...]))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw fault(errno) }
                written += count
                size += Int64(count)
            }
        }
    }

    /// Writes all buffered data of the file to the disk.
    func synchronize() throws {
        guard synchronizeFile(descriptor) else { throw fault(errno) }
    }

    /// Whether a URL still names this file.
    func isNamed(_ url: URL) -> Bool {
        var (own, named) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && lstat(url.path, &named) == 0 && own.st_ino == named.st_ino
            && own.st_dev == named.st_dev
    }

    /// Closes the file and releases its lock.
    func close() {
        guard isOpen else { return }
        isOpen = false
        systemClose(descriptor)
    }
}

// These wrappers exist because the system functions have the same names as the methods above.
private func systemWrite(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(file, bytes.baseAddress, bytes.count)
}

private func systemClose(_ file: Int32) {
    close(file)
}
