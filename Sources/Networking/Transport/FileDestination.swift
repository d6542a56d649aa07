public import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Where a download goes, and what happens to a file that is there already.
///
/// The bytes are written beside the target, under a name of their own, and put in its place in one step when all of them are there: nobody ever
/// finds a part of a file at the target.
public struct FileDestination: Sendable {
    /// What happens to a file that is there already.
    public enum OverwriteRule: Hashable, Sendable {
        /// The call ends with ``NetworkError/Kind/fileNotWritable``, and the file stays.
        case fail
        /// It is replaced.
        case replace
        /// It stays, and the new one gets a number: `report 2.pdf`.
        case uniqueName
    }

    /// The target.
    public let url: URL
    /// What happens to a file that is there already.
    public let rule: OverwriteRule
    /// Whether the bytes have to be on the disk, and not only handed to the system, before the call is answered.
    public let isSynchronized: Bool

    /// Makes a destination. The target's folder has to be there.
    public init(_ url: URL, overwriting rule: OverwriteRule = .fail, isSynchronized: Bool = false) {
        self.url = url
        self.rule = rule
        self.isSynchronized = isSynchronized
    }

    /// Writes a body and puts it in its place.
    ///
    /// - Returns: Where it is.
    func write(_ body: IncomingBody) async throws -> URL {
        if rule == .fail, FileManager.default.fileExists(atPath: url.path) { throw fault(EEXIST) }
        let part = url.deletingLastPathComponent()
            .appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString).part")
        let file = open(part.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw fault(errno) }
        do {
            defer { close(file) }
            for try await chunk in body { try append(chunk, to: file) }
            if isSynchronized, fsync(file) != 0 { throw fault(errno) }
        } catch {
            unlink(part.path)
            throw error
        }
        return try putInPlace(part)
    }

    private func append(_ chunk: Data, to file: Int32) throws {
        try chunk.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = Self.write(file, UnsafeRawBufferPointer(rebasing: bytes[written...]))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw fault(errno) }
                written += count
            }
        }
    }

    private static func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            Glibc.write(file, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            Musl.write(file, bytes.baseAddress, bytes.count)
        #else
            Darwin.write(file, bytes.baseAddress, bytes.count)
        #endif
    }

    private func putInPlace(_ part: URL) throws -> URL {
        if rule == .replace {
            guard rename(part.path, url.path) == 0 else { throw failed(part) }
            return url
        }
        var target = url
        var number = 2
        // A link fails where there is a file: nothing that came meanwhile is overwritten.
        while link(part.path, target.path) != 0 {
            guard errno == EEXIST, rule == .uniqueName, number < 10_000 else { throw failed(part) }
            target = numbered(number)
            number += 1
        }
        unlink(part.path)
        return target
    }

    private func numbered(_ number: Int) -> URL {
        let name = url.deletingPathExtension().lastPathComponent
        let ending = url.pathExtension.isEmpty ? "" : ".\(url.pathExtension)"
        return url.deletingLastPathComponent().appendingPathComponent("\(name) \(number)\(ending)")
    }

    private func failed(_ part: URL) -> NetworkError {
        let code = errno
        unlink(part.path)
        return fault(code)
    }

    private func fault(_ code: Int32) -> NetworkError {
        NetworkError(
            .fileNotWritable,
            reason: "the file \(url.lastPathComponent) cannot be written: \(String(cString: strerror(code)))",
            underlying: POSIXErrorCode(rawValue: code).map { POSIXError($0) })
    }
}
