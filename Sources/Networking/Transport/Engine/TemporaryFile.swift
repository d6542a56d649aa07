import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A file that is there as long as somebody holds it.
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
                .bodyUnreadable, reason: "the request's body cannot be put into a temporary file", underlying: error)
        }
    }
}

/// Has the system write a file to stable storage.
///
/// - Returns: Whether it did; otherwise `errno` says why not.
func synchronizeFile(_ descriptor: Int32) -> Bool {
    #if canImport(Darwin)
        // There, fsync leaves the bytes in the drive's cache. Some file systems have fsync only (fcntl(2)).
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
    #endif
    return fsync(descriptor) == 0
}
