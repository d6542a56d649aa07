import Foundation

/// A request's body that was read to its end, for an engine that cannot read it piece by piece. A short body is in
/// memory. A long body is in a temporary file.
enum SpooledBody: Sendable {
    case data(Data)
    case file(TemporaryFile)

    /// The bytes of the body. A file is mapped into memory, because Foundation's own way of sending files is not
    /// reliable on Linux (row L42 of <doc:URLSessionOnLinux>).
    var bytes: Data {
        get throws {
            switch self {
            case .data(let data): data
            case .file(let file): try Data(contentsOf: file.url, options: .alwaysMapped)
            }
        }
    }

    /// Reads a body to its end. A body that is already in memory is used as it is.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - limit: The largest number of bytes to hold in memory. A longer body goes into a temporary file.
    ///   - idle: The longest time without new bytes. After that, the error is of kind
    ///     ``NetworkError/Kind/idleTimedOut``.
    init(_ body: HTTPBody, inMemory limit: Int, idle: Duration) async throws {
        if let data = body.data {
            self = .data(data)
            return
        }
        let reader = try body.open()
        defer { reader.close() }
        var collected = Data()
        var file: TemporaryFile?
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var bytesRead = 0
        while let count = try await reader.next(into: &buffer, idle: idle) {
            bytesRead += count
            if let length = body.length, bytesRead > length { throw NetworkError.bodyTooLong(length) }
            collected.append(contentsOf: buffer[..<count])
            guard collected.count > limit || file != nil else { continue }
            file = try file ?? TemporaryFile()
            try file?.append(collected)
            collected = Data()
        }
        if let length = body.length, bytesRead < length { throw NetworkError.bodyTooShort(bytesRead, of: length) }
        self = file.map { .file($0) } ?? .data(collected)
    }
}

/// A temporary file that is deleted when its last reference is released.
final class TemporaryFile: Sendable {
    let url: URL
    private let handle: FileHandle

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("networking-\(UUID().uuidString).body")
        do {
            try Data().write(to: url, options: .withoutOverwriting)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
            handle = try FileHandle(forWritingTo: url)
        } catch {
            throw NetworkError(
                .bodyUnreadable,
                reason: "the request's body does not fit into memory, and no temporary file can be written",
                underlying: error)
        }
    }

    deinit {
        try? handle.close()
        try? FileManager.default.removeItem(at: url)
    }

    func append(_ data: Data) throws {
        do { try handle.write(contentsOf: data) } catch {
            throw NetworkError(
                .bodyUnreadable, reason: "the request's body cannot be saved to a temporary file", underlying: error)
        }
    }
}

/// Writes bytes to an open file at a position.
///
/// - Returns: Whether all bytes were written; if not, `errno` is the reason.
func writeFile(_ descriptor: Int32, _ bytes: Data, at start: Int64) -> Bool {
    bytes.withUnsafeBytes { bytes in
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
func synchronizeFile(_ descriptor: Int32) -> Bool {
    #if canImport(Darwin)
        // On Apple platforms, fsync leaves the bytes in the drive's cache. Some file systems support only fsync
        // (fcntl(2)).
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
    #endif
    return fsync(descriptor) == 0
}

/// Synchronizes the folder of a file. A new name is on stable storage only after its folder has been synchronized.
func synchronizeFolder(of path: String) throws {
    let folder = (path as NSString).deletingLastPathComponent
    let file = open(folder.isEmpty ? "." : folder, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw FileLock.fault(folder) }
    defer { close(file) }
    guard synchronizeFile(file) else { throw FileLock.fault(folder) }
}

/// The size of the largest file that the process may write (`RLIMIT_FSIZE`). If the process writes a larger file, the
/// system ends the process with a signal.
enum FileSizeLimit {
    static var current: Int64 {
        var limit = rlimit()
        return getrlimit(resource, &limit) == 0 ? Int64(clamping: UInt64(limit.rlim_cur)) : .max
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #else
        private static let resource = RLIMIT_FSIZE
    #endif
}
