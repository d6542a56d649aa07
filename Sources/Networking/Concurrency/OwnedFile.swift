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
        let isMade = FileManager.default.createFile(
            atPath: beside, contents: bytes, attributes: [.posixPermissions: 0o600])
        guard isMade else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path]) }
        guard rename(beside, path) == 0 else {
            let code = errno
            unlink(beside)
            throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        }
    }
}
