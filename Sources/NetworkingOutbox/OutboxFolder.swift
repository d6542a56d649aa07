package import Foundation
package import Networking

/// The folder of an outbox: a file for each entry, and a file for each body that is large.
///
/// A file is written under a temporary name, brought to stable storage, and renamed. A process that is killed at any
/// point therefore leaves a complete entry or no entry. Files are changed while the lease file is locked; the lock is
/// never held while a request is sent.
package struct OutboxFolder: Sendable {
    /// Bodies of at most this size are stored in the entry.
    static let largestInlineBody = 64 << 10

    let url: URL
    let lease: FileLease
    private let table = NameTable()

    package init(_ url: URL, lease length: Duration, clock: NetworkClock) throws {
        self.url = url
        lease = FileLease(
            path: url.appendingPathComponent("outbox.lease").path, length: max(length, .milliseconds(500)), clock: clock
        )
        try create()
    }

    func create() throws {
        try OwnedFolder.create(url)
        #if canImport(Darwin)
            try protect()
        #endif
    }

    private func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Locks the folder against changes by other processes, and runs a closure.
    func locked<Value>(_ body: () throws -> Value) throws -> Value { try lease.locked { _ in try body() } }

    // MARK: Reading

    /// Returns the names of all entries, in no particular order. No process adds an entry meanwhile, so if an entry is
    /// found, all entries before it are found, too.
    package func names() throws -> [OutboxName] {
        table.of(try locked { try files() })
    }

    private func files() throws -> [String] { try OwnedFolder.names(url.path) }

    /// The properties of an entry's file that differ after the file is replaced. The inode alone is not enough, because
    /// it may be used again.
    package struct Mark: Hashable, Sendable {
        fileprivate let inode, size, seconds, nanoseconds: Int
    }

    /// Returns the mark of an entry's file; nil if there is none.
    package func mark(of name: OutboxName) -> Mark? {
        var status = stat()
        guard lstat(path(name.file), &status) == 0 else { return nil }
        return Mark(
            inode: Int(truncatingIfNeeded: status.st_ino), size: Int(status.st_size),
            seconds: status.modificationTime.tv_sec, nanoseconds: status.modificationTime.tv_nsec)
    }

    /// Reads an entry. Returns nil if there is none.
    ///
    /// - Throws: ``OutboxRecord/Fault`` if the file is not an entry that can be read. Another error if the file cannot
    ///   be read now.
    package func record(_ name: OutboxName) throws -> OutboxRecord? {
        var status = stat()
        if lstat(path(name.file), &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw OutboxRecord.Fault("expected a regular file with an entry, found another kind of file")
        }
        let bytes: Data?
        do { bytes = try OwnedFile.read(path(name.file), upTo: OutboxRecord.maximumSize) } catch let fault
            as OwnedFile.Irregular
        {
            throw OutboxRecord.Fault("the file cannot be read as an entry: \(fault)")
        }
        guard let bytes else { return nil }
        let record = try OutboxRecord(decoding: bytes)
        guard record.id == name.id, record.lane == name.lane else {
            throw OutboxRecord.Fault("expected the entry of \(name.file), found another entry: the file was renamed")
        }
        return record
    }

    /// Checks the file with the body of an entry, and returns the URL of the file.
    func body(_ file: OutboxRecord.Body.File, of id: UUID) throws -> URL {
        guard PartialBody.isName(file.name, of: id) else {
            throw OutboxRecord.Fault("the entry names a body file that does not belong to it")
        }
        let url = url.appendingPathComponent(file.name)
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard [ENOENT, ELOOP, ENXIO].contains(errno) else { throw FileLock.fault(url.path, reading: true) }
            throw OutboxRecord.Fault("the file with the body of the entry does not exist")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard FileLock.isTrusted(descriptor) else {
            throw OutboxRecord.Fault("the file with the body of the entry is not a regular file of this user")
        }
        defer { try? handle.close() }
        var (checksum, count) = (Checksum(), 0)
        while let piece = try handle.read(upToCount: 1 << 20), !piece.isEmpty {
            piece.withUnsafeBytes { checksum.update($0) }
            count += piece.count
        }
        guard count == file.count, checksum.value == file.checksum else {
            throw OutboxRecord.Fault("expected a body of \(file.count) bytes, found \(count) bytes: it is damaged")
        }
        return url
    }

    // MARK: Changing

    /// Stores a new entry after all others. The entry is on stable storage when the method returns.
    ///
    /// - Parameter part: The file with the body; the method moves this file. Nil if the body is in the record.
    /// - Returns: The name of the entry, and the names of all entries, in no order.
    func add(_ record: OutboxRecord, body part: PartialBody? = nil) throws -> (name: OutboxName, all: [OutboxName]) {
        try create()  // other code may have removed the folder
        return try locked {
            let names = try clean()
            let last = names.map(\.number).max() ?? 0
            guard last < OutboxName.largest else {
                throw KindTable.fault(
                    "the entry with the number \(last) has the largest possible number, so no entry can follow it: remove this entry"
                )
            }
            let name = OutboxName(number: last + 1, lane: record.lane, id: record.id)
            do { try replace(name, with: record, part) } catch {
                unlink(path(name.file))
                throw error
            }
            return (name, names + [name])
        }
    }

    /// Changes an entry. Does nothing if it has ended, or does not exist any more.
    ///
    /// - Returns: The new record; nil if nothing was changed.
    @discardableResult
    func change(
        _ name: OutboxName, body part: PartialBody? = nil, _ change: (inout OutboxRecord) -> Void
    ) throws -> OutboxRecord? {
        try locked {
            guard var record = try record(name), !record.state.isEnd else { return nil }
            let before = record
            change(&record)
            guard record != before else { return record }
            try replace(name, with: record, part)
            if let old = before.body?.file?.name, old != record.body?.file?.name, PartialBody.isName(old, of: name.id) {
                unlink(path(old))
            }
            return record
        }
    }

    /// Replaces the file of an entry. The file of the body gets its final name first, so that the entry is complete at
    /// any moment.
    private func replace(_ name: OutboxName, with record: OutboxRecord, _ part: PartialBody?) throws {
        let bytes = try record.encoded()
        guard bytes.count <= OutboxRecord.maximumSize else {
            throw KindTable.fault(
                "expected an endpoint of at most \(OutboxRecord.maximumSize) bytes, found \(bytes.count); "
                    + "keep large bytes in a file, and send them with HTTPBody.file")
        }
        let body = part == nil ? nil : record.body?.file?.name
        if let part, let body, rename(part.path, path(body)) != 0 { throw FileLock.fault(path(body)) }
        do { try OwnedFile.replace(path(name.file), with: bytes) } catch {
            // Despite the error, the file may have its new content.
            if let body, (try? self.record(name))?.body?.file?.name != body { unlink(path(body)) }
            throw error
        }
    }

    /// Removes an entry.
    ///
    /// - Returns: Whether it existed.
    @discardableResult
    func remove(_ name: OutboxName) throws -> Bool {
        try locked {
            guard mark(of: name) != nil else { return false }
            try OwnedFile.remove(path(name.file))
            for file in try files() where file.hasPrefix(PartialBody.prefix(of: name.id)) { unlink(path(file)) }
            return true
        }
    }

    /// Removes the unused files of terminated processes, and returns the names of all entries.
    private func clean() throws -> [OutboxName] {
        let files = try files()
        let names = table.of(files)
        var bodies: [String] = []
        for file in files where !file.hasSuffix(".entry") {
            if file.hasSuffix(".entry.new") {
                unlink(path(file))
            } else if file.hasSuffix(".body") {
                bodies.append(file)
            } else if file.hasSuffix(".part") {
                PartialBody.removeUnused(path(file))
            }
        }
        guard !bodies.isEmpty else { return names }
        let known = Set(names.map { PartialBody.prefix(of: $0.id) })
        for body in bodies where !known.contains(String(body.prefix(37))) { unlink(path(body)) }
        return names
    }
}

/// The names that have been read, so that only new files are examined.
private struct NameTable: Sendable {
    private let known = Locked<[String: OutboxName]>([:])

    /// Returns the names of entries among the names of files.
    func of(_ files: [String]) -> [OutboxName] {
        known.withLock { known in
            var table: [String: OutboxName] = [:]
            table.reserveCapacity(files.count)
            for file in files where file.hasSuffix(".entry") { table[file] = known[file] ?? OutboxName(file) }
            known = table
            return Array(table.values)
        }
    }
}
