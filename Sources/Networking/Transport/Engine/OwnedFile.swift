package import Foundation

/// Files that only their owner can read.
package enum OwnedFile {
    /// Reads a file. Returns nil if there is none.
    ///
    /// - Throws: `CocoaError` with the path if the file cannot be read now. ``Irregular`` if the path names a file of
    ///   another user, a file of more than `limit` bytes, or something other than a file, such as a symbolic link.
    package static func read(_ path: String, upTo limit: Int = 1 << 20) throws -> Data? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP, ENXIO: throw Irregular("expected a regular file, found a symbolic link or a socket")
            default: throw FileLock.fault(path, reading: true)
            }
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw FileLock.fault(path, reading: true) }
        guard [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
            throw Irregular("expected a regular file, found something else")
        }
        guard FileLock.isTrusted(status) else {
            throw Irregular("the file belongs to the user \(status.st_uid); expected the user \(geteuid())")
        }
        var content = Data()
        var bytes = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = pread(file, &bytes, bytes.count, off_t(content.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileLock.fault(path, reading: true) }
            guard count > 0 else { return content }
            content += bytes[..<count]
            guard content.count <= limit else { throw Irregular("expected at most \(limit) bytes, found more") }
        }
    }

    /// The path names something other than a file of this user.
    package struct Irregular: Error, CustomStringConvertible {
        package let description: String
        init(_ description: String) { self.description = description }
    }

    /// Writes bytes to a new file next to the old file, and replaces the old file with the new file in one step. Every
    /// reader finds either the old or the new bytes, even after a power failure. Only one caller at a time may call
    /// this function.
    package static func replace(_ path: String, with bytes: Data) throws {
        let new = path + ".new"
        removeRemains(of: path)
        // An existing file could be open in another process, or have another owner.
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw FileLock.fault(new) }
        do {
            guard writeFile(file, bytes, at: 0), synchronizeFile(file) else {
                defer { close(file) }  // after the error is read from `errno`
                throw FileLock.fault(new)
            }
            guard close(file) == 0, rename(new, path) == 0 else { throw FileLock.fault(path) }
        } catch {
            unlink(new)
            throw error
        }
        try synchronizeFolder(of: path)
    }

    /// Removes a file if it exists, and the temporary file of a process that was terminated while it wrote.
    package static func remove(_ path: String) throws {
        removeRemains(of: path)
        guard unlink(path) == 0 || errno == ENOENT else { throw FileLock.fault(path) }
        try synchronizeFolder(of: path)
    }

    /// Removes the temporary file of a process that was terminated while it wrote.
    static func removeRemains(of path: String) {
        unlink(path + ".new")
    }

    /// Checks that an open file is a regular file with only one hard link, and that it belongs to this user or to the
    /// system. If this user owns the file, other users lose their access to it.
    ///
    /// - Returns: False if the file has been removed or replaced.
    static func isInUse(_ file: Int32, at path: String) throws -> Bool {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw FileLock.fault(path) }
        var named = stat()
        guard lstat(path, &named) == 0, named.st_ino == status.st_ino, named.st_dev == status.st_dev else {
            return false
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink <= 1, FileLock.isTrusted(status) else {
            throw FileLock.fault(path, EPERM)
        }
        if status.st_mode & 0o077 != 0, status.st_uid == geteuid(), fchmod(file, 0o600) != 0 {
            throw FileLock.fault(path)
        }
        return true
    }
}

/// Folders that only their owner can read.
package enum OwnedFolder {
    /// Returns the names of the files in a folder.
    package static func names(_ path: String) throws -> [String] {
        guard let folder = opendir(path) else { throw FileLock.fault(path, reading: true) }
        defer { closedir(folder) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(folder) else { break }
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        guard errno == 0 else { throw FileLock.fault(path, reading: true) }
        return names
    }

    /// Creates a folder and the folders that contain it, unless they exist already.
    ///
    /// - Throws: ``NetworkError/Kind/fileNotWritable`` if others can read an existing folder. Such a folder is not
    ///   changed, because it may have another purpose.
    package static func create(_ url: URL) throws {
        guard url.isFileURL else { throw CocoaError(.fileWriteUnsupportedScheme, userInfo: [NSURLErrorKey: url]) }
        let path = url.path
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        // Foundation sets the permissions of a new directory only after it has created the directory. Until then,
        // another process would refuse the directory.
        if mkdir(path, 0o700) == 0 {
            try synchronizeFolder(of: path)
        } else if errno != EEXIST {
            throw FileLock.fault(path)
        }
        try checkOwner(of: path)
    }

    private static func checkOwner(of path: String) throws {
        var (link, status) = (stat(), stat())
        guard lstat(path, &link) == 0, stat(path, &status) == 0 else { throw FileLock.fault(path) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw FileLock.fault(path, ENOTDIR) }
        // A symbolic link of another user could point to any directory of this user.
        let owner = [geteuid(), 0].contains(link.st_uid) ? status.st_uid : link.st_uid
        guard owner == geteuid() else {
            throw NetworkError(
                .fileNotWritable,
                reason: "the directory \(path) belongs to the user \(owner); expected the user \(geteuid())")
        }
        guard status.st_mode & 0o077 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw NetworkError(
                .fileNotWritable,
                reason: "the directory \(path) has the permissions \(mode), so other users can use it; expected 700")
        }
    }
}
