import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

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
