package import Foundation

extension HTTPBody {
    /// Reads the body to its end, for an engine that cannot read it piece by piece. A body that is already in memory is
    /// returned as it is. A long body is written to a temporary file without a name, and this file is mapped into
    /// memory. The reason is that Foundation's own way of sending files is not reliable on Linux (row L42 of
    /// <doc:URLSessionOnLinux>).
    ///
    /// - Parameters:
    ///   - limit: The largest number of bytes to hold in memory.
    ///   - idle: The longest time without new bytes. If it passes, the method throws an error of kind
    ///     ``NetworkError/Kind/idleTimedOut``.
    func spooled(inMemory limit: Int, idle: Duration) async throws -> Data {
        if let data { return data }
        var collected = Data()
        var file: UnnamedFile?
        try await forEachPiece(idle: idle) { piece in
            collected.append(contentsOf: piece)
            guard collected.count > limit || file != nil else { return }
            file = try file ?? UnnamedFile()
            try file?.append(collected)
            collected = Data()
        }
        return try file?.mapped() ?? collected
    }
}

/// A temporary file that has no name, so that no other process can open it, and nothing remains of it if the process is
/// killed.
private final class UnnamedFile {
    private let descriptor: Int32
    private var count = 0

    init() throws {
        let path = NSTemporaryDirectory() + "/networking-\(UUID().uuidString).body"
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw NetworkError(
                .bodyUnreadable,
                reason: "the request's body does not fit into memory, and no temporary file can be written",
                underlying: FileLock.fault(path))
        }
        unlink(path)
    }

    deinit { close(descriptor) }

    func append(_ data: Data) throws {
        guard writeFile(descriptor, data, at: Int64(count)) else {
            throw fault("the request's body cannot be saved to a temporary file")
        }
        count += data.count
    }

    /// Returns the bytes of the file, mapped into memory. The mapping exists as long as the bytes.
    func mapped() throws -> Data {
        guard let bytes = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0), bytes != MAP_FAILED else {
            throw fault("the temporary file of the request's body cannot be read")
        }
        return Data(bytesNoCopy: bytes, count: count, deallocator: .unmap)
    }

    private func fault(_ reason: String) -> NetworkError {
        NetworkError(
            .bodyUnreadable, reason: reason, underlying: FileLock.fault(NSTemporaryDirectory()))
    }
}

/// Writes bytes to an open file at a position, unless the file would become larger than ``FileSizeLimit``.
///
/// - Returns: Whether all bytes were written; if not, `errno` is the reason.
package func writeFile(_ descriptor: Int32, _ bytes: Data, at start: Int64) -> Bool {
    guard Int64(bytes.count) <= FileSizeLimit.current - start else {
        errno = EFBIG
        return false
    }
    return bytes.withUnsafeBytes { bytes in
        var position = 0
        while position < bytes.count {
            let rest = bytes.baseAddress.map { $0 + position }
            let count = pwrite(descriptor, rest, bytes.count - position, off_t(start) + off_t(position))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            position += count
        }
        return true
    }
}

/// Writes a file to stable storage.
///
/// - Returns: Whether the file was written; if not, `errno` is the reason.
package func synchronizeFile(_ descriptor: Int32) -> Bool {
    #if canImport(Darwin)
        // On Apple platforms, fsync leaves the bytes in the drive's cache. Some file systems support only fsync
        // (fcntl(2)).
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
    #endif
    return fsync(descriptor) == 0
}

/// Synchronizes the folder of a file. A new name is on stable storage only after its folder has been synchronized.
package func synchronizeFolder(of path: String) throws {
    let folder = (path as NSString).deletingLastPathComponent
    let file = open(folder.isEmpty ? "." : folder, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw FileLock.fault(folder) }
    defer { close(file) }
    guard synchronizeFile(file) else { throw FileLock.fault(folder) }
}

/// The size of the largest file that the process may write (`RLIMIT_FSIZE`). If the process writes a larger file, the
/// system ends the process with a signal.
package enum FileSizeLimit {
    package static var current: Int64 {
        var limit = rlimit()
        return getrlimit(resource, &limit) == 0 ? Int64(clamping: UInt64(limit.rlim_cur)) : .max
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #else
        private static let resource = RLIMIT_FSIZE
    #endif
}
