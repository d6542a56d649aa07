import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A lock file. Only one thread of one process holds the lock at a time. The system releases the lock if the process
/// ends.
struct FileLock: Sendable {
    let path: String

    /// Waits for the lock and holds it while a closure runs. Creates the file if there is none.
    func locked<Value>(_ body: (_ file: Int32) throws -> Value) throws -> Value {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw FileLock.fault(path) }
        defer { close(file) }
        while flock(file, LOCK_EX) != 0 { guard errno == EINTR else { throw FileLock.fault(path) } }
        return try body(file)
    }

    /// Returns the error of the last system call, from `errno`.
    static func fault(_ path: String) -> any Error {
        let code = POSIXErrorCode(rawValue: errno) ?? .EIO
        return CocoaError(
            .fileWriteUnknown, userInfo: [NSFilePathErrorKey: path, NSUnderlyingErrorKey: POSIXError(code)])
    }
}
