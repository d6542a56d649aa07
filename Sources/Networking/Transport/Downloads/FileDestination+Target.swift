public import Foundation

/// The step that moves the complete file to the target.
extension FileDestination {
    func moveToTarget(_ part: URL) throws -> URL {
        var target = url
        if rule == .replace {
            guard rename(part.path, url.path) == 0 else { throw fault(errno) }
        } else {
            var number = 2
            // `link` fails if the name exists. Therefore a file that was created meanwhile is not overwritten.
            while !give(part, the: target) {
                guard errno == EEXIST, rule == .uniqueName, number < 10_000 else { throw fault(errno) }
                target = numbered(number)
                number += 1
            }
        }
        // Another download may already have begun a new part and its description. If the new description is removed
        // here, the new part cannot be resumed. Removing the description earlier would be worse: if this process were
        // terminated then, its complete part could not be resumed.
        if isContinued { unlink(note.path) }
        return target
    }

    /// Renames a file, provided that no other file has the new name.
    ///
    /// - Returns: False if the name exists or the file cannot be renamed; `errno` contains the reason.
    private func give(_ part: URL, the name: URL) -> Bool {
        if link(part.path, name.path) == 0 {
            unlink(part.path)
            return true
        }
        guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { return false }
        // The file system does not support hard links, so an empty file reserves the name first.
        let claim = open(name.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard claim >= 0 else { return false }
        close(claim)
        guard rename(part.path, name.path) != 0 else { return true }
        let code = errno
        unlink(name.path)  // the target must never be an incomplete file
        errno = code
        return false
    }

    private func numbered(_ number: Int) -> URL {
        let name = url.deletingPathExtension().lastPathComponent
        let ending = url.pathExtension.isEmpty ? "" : ".\(url.pathExtension)"
        return url.deletingLastPathComponent().appendingPathComponent(
            FileName.fitting(name, after: " \(number)\(ending)"))
    }
}

/// Errors.
extension FileDestination {
    private func describe(_ code: Int32) -> String {
        let name = url.lastPathComponent
        let folder = url.deletingLastPathComponent()
        if code == EWOULDBLOCK { return "another download to \(name) is in progress" }
        if code == ENOENT, !FileManager.default.fileExists(atPath: folder.path) {
            return "the file \(name) cannot be written: the folder \(folder.lastPathComponent) does not exist"
        }
        return "the file \(name) cannot be written: \(String(cString: strerror(code)))"
    }

    func fault(_ code: Int32) -> NetworkError {
        NetworkError(
            .fileNotWritable, reason: describe(code), underlying: POSIXErrorCode(rawValue: code).map { POSIXError($0) })
    }
}

/// Names of files.
enum FileName {
    /// The maximum number of bytes in a file name, on Apple platforms and on Linux.
    static let longest = 255

    /// Returns a name with a prefix and a suffix. If the result would be too long, the name is shortened, and a hash of
    /// the whole name distinguishes it from other names with the same beginning.
    static func fitting(_ name: String, before: String = "", after: String) -> String {
        let whole = before + name + after
        guard whole.utf8.count > longest else { return whole }
        // FNV-1a
        let hash = name.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let mark = "~" + String(hash, radix: 36)
        var start = Substring(name)
        let room = max(longest - before.utf8.count - mark.utf8.count - after.utf8.count, 0)
        while start.utf8.count > room { start.removeLast() }
        return before + start + mark + after
    }
}

extension FileDestination {
    /// The SHA-256 sum of a file's bytes.
    public struct Checksum: Hashable, Sendable, CustomStringConvertible {
        /// The 32 bytes of the sum.
        let bytes: Data

        /// Creates a checksum from its bytes.
        ///
        /// - Throws: ``NetworkError/Kind/invalidRequest`` if there are not exactly 32 bytes.
        public init(_ bytes: Data) throws {
            try NetworkError.require(bytes.count == 32, "checksum: expected 32 bytes, found \(bytes.count)")
            self.bytes = bytes
        }

        /// Creates a checksum from 64 hexadecimal digits.
        ///
        /// - Throws: ``NetworkError/Kind/invalidRequest`` if the text is anything else.
        public init(hexadecimal text: String) throws {
            let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            let isValid = text.utf8.count == 64 && digits.count == 64
            try NetworkError.require(isValid, "checksum: expected 64 hexadecimal digits")
            bytes = Data(stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
        }

        /// The checksum as 64 hexadecimal digits in lower case.
        public var description: String {
            bytes.map { (($0 < 16) ? "0" : "") + String($0, radix: 16) }.joined()
        }

        /// Compares the checksum of a file with the expected checksum. The file is read by the descriptor with which it
        /// was written, because another file may have its name by now.
        ///
        /// - Throws: ``NetworkError/Kind/checksumMismatch`` if the file has another checksum.
        func verify(_ file: PartFile) async throws {
            let digest = try MessageDigest(.sha256)
            var position: Int64 = 0
            while case let chunk = try file.read(upTo: 1 << 20, at: position), !chunk.isEmpty {
                position += Int64(chunk.count)
                digest.update(chunk)
                try CallScope.check()
                await Task.yield()  // lets other calls use the thread
            }
            let sum = digest.finish()
            guard sum == bytes else {
                throw NetworkError(
                    .checksumMismatch,
                    reason: "the file's SHA-256 is \(try FileDestination.Checksum(sum)), not \(self)")
            }
        }
    }
}
