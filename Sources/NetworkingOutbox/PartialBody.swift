import Foundation
import Networking

/// A file with a body that belongs to no entry yet. While the file is locked, the process that writes the file is still
/// running.
final class PartialBody: Sendable {
    let path: String
    /// The name that the file gets when it belongs to its entry.
    private let name: String
    private let descriptor: Int32

    /// - Parameters:
    ///   - id: The id of the entry.
    ///   - body: A new id, because an entry whose body is replaced has two bodies for a moment.
    init(in folder: OutboxFolder, of id: UUID, _ body: UUID) throws {
        name = PartialBody.prefix(of: id) + "\(body.uuidString.lowercased()).body"
        let path = folder.url.appendingPathComponent(name + ".part").path
        try folder.create()
        // While the folder is locked, no other process can mistake the new file for an unused one.
        descriptor = try folder.locked {
            let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard file >= 0 else { throw FileLock.fault(path) }
            _ = flock(file, LOCK_EX | LOCK_NB)
            return file
        }
        self.path = path
    }

    deinit {
        unlink(path)  // has no effect if the file was moved
        close(descriptor)
    }

    /// Writes a body into the file, and brings it to stable storage.
    func write(_ body: HTTPBody) async throws -> OutboxRecord.Body.File {
        var file = OutboxRecord.Body.File(name: name, count: 0, checksum: 0)
        var checksum = Checksum()
        try await body.forEachPiece { piece in
            piece.withUnsafeBytes { checksum.update($0) }
            guard writeFile(descriptor, Data(piece), at: Int64(file.count)) else { throw FileLock.fault(path) }
            file.count += piece.count
        }
        guard synchronizeFile(descriptor) else { throw FileLock.fault(path) }
        file.checksum = checksum.value
        return file
    }

    /// The text with which the names of an entry's body files begin. It has 37 bytes.
    static func prefix(of id: UUID) -> String { "\(id.uuidString.lowercased())-" }

    /// Whether a name is the name of an entry's body file.
    static func isName(_ name: String, of id: UUID) -> Bool {
        name.hasPrefix(prefix(of: id)) && name.hasSuffix(".body") && !name.contains("/")
    }

    /// Removes the file of a process that was terminated.
    static func removeUnused(_ path: String) {
        let file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return }
        if flock(file, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
        close(file)
    }
}
