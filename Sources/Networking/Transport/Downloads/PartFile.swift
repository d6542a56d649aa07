import Foundation

/// A file for the bytes of a download that is not complete yet, or for the note of an upload. While the file has this
/// purpose, only its owner may open it, because another user who can read a file can also lock it indefinitely.
final class PartFile: @unchecked Sendable {  // because a download writes chunk after chunk, a note has a lock
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
    ///   - isLocked: Whether the file is locked while it is open. The system releases the lock when the process ends.
    ///   - mayExist: Whether the file may exist already. Default: only a locked file may exist already.
    ///   - fault: Converts an error code of the system into the library's error.
    ///   - largestSize: The largest file that may be written, in bytes. Default: the limit of the process.
    init(
        _ url: URL, isLocked: Bool, mayExist: Bool? = nil, largestSize: UInt64? = nil,
        _ fault: @escaping @Sendable (Int32) -> NetworkError
    ) throws {
        (self.fault, self.largestSize) = (fault, largestSize ?? .max)
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW
        for _ in 0..<100 {
            var (status, named) = (stat(), stat())
            var file = open(url.path, flags | O_CREAT | O_EXCL, 0o600)
            if file < 0, errno == EEXIST, mayExist ?? isLocked {
                // An existing file is continued only if it belongs to this user.
                file = open(url.path, flags | O_NONBLOCK)
                if file < 0, errno == ENOENT { continue }
                if file >= 0, !FileLock.isTrusted(file) {
                    systemClose(file)
                    throw NetworkError(
                        .fileNotWritable,
                        reason:
                            "the file \(url.lastPathComponent) exists already, and is not a regular file of this user")
                }
            }
            guard file >= 0 else { throw fault(errno) }
            guard !isLocked || flock(file, LOCK_EX | LOCK_NB) == 0, fstat(file, &status) == 0,
                stat(url.path, &named) == 0 || errno == ENOENT
            else {
                let code = errno
                systemClose(file)
                throw fault(code)
            }
            // If the name belongs to another file, another download has moved this file to its target in the meantime.
            // This file is then no longer a part.
            let isNamed = status.st_ino == named.st_ino
            if isNamed, status.st_nlink < 2 {
                // Only now is it certain that the file is a part, and not the complete file or a file of the app.
                fchmod(file, 0o600)  // has no effect on some file systems
                (descriptor, size) = (file, Int64(status.st_size))
                return
            }
            // A process ended after it gave the file its final name and before it removed the old name. The file is
            // complete.
            if isNamed { unlink(url.path) }
            systemClose(file)
        }
        throw fault(EAGAIN)
    }

    deinit {
        close()
    }

    /// Truncates the file. The next bytes are written at its new end.
    func truncate(to size: Int64) throws {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw fault(errno) }
        self.size = size
    }

    /// Overwrites the content of the file. The old content must not be longer than the new bytes.
    func overwrite(_ bytes: Data) throws {
        guard writeFile(descriptor, bytes, at: 0) else { throw fault(errno) }
        size = Int64(bytes.count)
    }

    /// Appends bytes to the file.
    func append(_ chunk: Data) throws {
        guard UInt64(size) + UInt64(chunk.count) <= largestSize else { throw fault(EFBIG) }
        guard writeFile(descriptor, chunk, at: size) else { throw fault(errno) }
        size += Int64(chunk.count)
    }

    /// Reads bytes at a position; fewer at the end of the file.
    func read(upTo count: Int, at position: Int64) throws -> Data {
        var bytes = Data(count: count)
        let got = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, off_t(position)) }
        guard got >= 0 else { throw fault(errno) }
        return bytes.prefix(got)
    }

    /// Writes all buffered data of the file to the disk.
    func synchronize() throws {
        guard synchronizeFile(descriptor) else { throw fault(errno) }
    }

    /// Gives the file the permissions of a new file: `rw-r--r--`, without the permissions that the process withholds
    /// (`umask`).
    func publish() {
        #if os(Linux)
            // The system function that returns the mask also changes it, for all threads.
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("Umask:") }
            let mask = line.flatMap { mode_t($0.dropFirst(6).trimmingCharacters(in: .whitespaces), radix: 8) }
            fchmod(descriptor, 0o644 & ~(mask ?? 0o022))
        #else
            fchmod(descriptor, 0o644)
        #endif
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

// The system function has the same name as a method of the class.
private func systemClose(_ file: Int32) {
    close(file)
}

/// The description of a partial download. It contains the data that is needed to request the rest of the same content,
/// and to detect that the content has changed.
struct ResumePoint: Codable, Hashable, Sendable {
    /// The name of the content. A response can continue a part only if the content of both has the same name.
    let content: String
    /// The strong validator of the content: an entity tag, or a date.
    let validator: String
    /// The size of the whole content in bytes; nil if the server has not stated it.
    let total: Int64?

    /// Creates a resume point from the first response; nil if its content cannot be resumed later.
    init?(_ response: HTTPResponse, content: String) {
        let headers = response.headers
        guard response.status == .ok, !headers.isDecoded, headers[.acceptRanges]?.lowercased() != "none",
            let validator = headers.strongValidator
        else { return nil }
        self.content = content
        self.validator = validator
        total = response.statedLength
    }

    /// Whether the validator can be sent in `If-Range`. If the file of the description is damaged, the validator may be
    /// invalid. The server would then refuse each request.
    var isSendable: Bool {
        (1...EntityTag.largest).contains(validator.utf8.count) && HTTPGrammar.isFieldValue(validator)
    }

    /// Returns the position of the first byte to request. If the part is complete already, this is the position of its
    /// last byte, so that the server can confirm the content.
    func start(after size: Int64) -> Int64 {
        guard let total, size >= total else { return size }
        return size == total ? max(total - 1, 0) : 0
    }

    /// Whether a response contains the rest of the same content, beginning at the byte `start`.
    func isContinued(by response: HTTPResponse, at start: Int64) -> Bool {
        guard response.status == .partialContent, !response.headers.isDecoded,
            let range = response.headers.contentRange, range.first == start
        else { return false }
        if let total, range.total != total { return false }
        // A server need not repeat `Last-Modified` in the response to `If-Range`, but must repeat the `ETag` (RFC 9110
        // section 15.3.7).
        if validator.hasPrefix("\"") { return response.headers[.eTag] == validator }
        return response.headers[.lastModified].map { $0 == validator } ?? true
    }
}
