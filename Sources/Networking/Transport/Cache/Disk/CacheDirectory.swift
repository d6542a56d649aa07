import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The directory in which a cache stores responses. Several caches and processes may use it at the same time.
///
/// It has a folder for each URL, and in it a file for each response (``CacheFileFormat``). The name of a file is the
/// time at which the response's request was sent. A file is written under another name, and is never changed after it
/// has got its own; so a reader finds it complete or not at all. Changes are made while the file ``CacheRemovals`` is
/// locked; readers do not lock. Nothing is written to stable storage explicitly: the checksum detects what a power
/// failure has left incomplete.
final class CacheDirectory: Sendable {
    let path: String
    let capacity: Int
    private let heuristicFreshness: Double
    private let lock: FileLock
    let usage = Locked(CacheUsage())

    /// Uses a directory. Creates it, if necessary, so that only its owner can read it.
    init(_ url: URL, capacity: Int, heuristicFreshness: Double) throws {
        guard url.isFileURL else { throw CocoaError(.fileWriteUnsupportedScheme, userInfo: [NSURLErrorKey: url]) }
        path = url.path
        self.capacity = capacity
        self.heuristicFreshness = heuristicFreshness
        lock = FileLock(path: path + "/removals")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try lock.locked { _ in }
    }

    /// The largest size of a file.
    var largestFile: Int64 { Int64(capacity / 8) }

    // MARK: Reading

    /// Returns the most suitable of the stored responses for a request.
    func response(at key: String, to request: HTTPRequest) -> CachedResponse? {
        let folder = folder(key)
        // A file may be replaced between the listing and the reading; then its successor is read.
        for _ in 0..<3 {
            var isChanged = false
            var responses: [CachedResponse] = []
            for name in names(in: folder).sorted() {
                switch read("\(folder)/\(name)", key, isUse: true) {
                case .missing: isChanged = true
                case .damaged: continue
                case .response(let found): responses.append(found)
                }
            }
            if let found = responses.mostSuitable(for: request) { return found }
            if !isChanged { return nil }
        }
        return nil
    }

    private enum Reading {
        case response(CachedResponse)
        /// The file was removed meanwhile.
        case missing
        /// The file has another format, another URL, or other bytes than those that were written.
        case damaged
    }

    /// The size up to which a file is read into memory at once.
    private static let smallSize: Int64 = 1 << 18

    /// Reads a file.
    ///
    /// - Parameter isUse: Whether the response may be used, so that its body must be intact. Otherwise, only its head
    ///   is of interest.
    private func read(_ path: String, _ key: String, isUse: Bool) -> Reading {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return errno == ENOENT ? .missing : .damaged }
        var isOpen = true
        defer { if isOpen { close(file) } }
        var status = stat()
        guard fstat(file, &status) == 0 else { return .damaged }
        let size = Int64(status.st_size)
        guard let bytes = CacheFile.read(file, 0..<min(size, CacheDirectory.smallSize)),
            let checksum = CacheFileFormat.checksum(bytes),
            !isUse || CacheDirectory.checksum(file, bytes, size) == checksum,
            let head = CacheFileFormat.Head(bytes[CacheFileFormat.firstLineCount...]), head.key == key
        else { return .damaged }
        if isUse { markUsed(file, status) }
        let body: CachedBody
        if bytes.count == size {
            body = .data(Data(bytes[head.bodyStart...]))
        } else {
            body = .file(CacheFile(file, start: Int64(head.bodyStart), count: size - Int64(head.bodyStart)))
            isOpen = false
        }
        let response = CachedResponse(head, body, heuristicFreshness: heuristicFreshness)
        return response.map { .response($0) } ?? .damaged
    }

    /// Returns the checksum of a file after its first line; nil if it cannot be read.
    ///
    /// - Parameter beginning: The first bytes of the file.
    private static func checksum(_ file: Int32, _ beginning: [UInt8], _ size: Int64) -> UInt64? {
        var checksum = Checksum()
        beginning.withUnsafeBytes {
            checksum.update(UnsafeRawBufferPointer(rebasing: $0[CacheFileFormat.firstLineCount...]))
        }
        var position = Int64(beginning.count)
        while position < size {
            let end = min(position + smallSize, size)
            guard let bytes = CacheFile.read(file, position..<end) else { return nil }
            bytes.withUnsafeBytes { checksum.update($0) }
            position = end
        }
        return checksum.value
    }

    // MARK: Changing

    /// Begins the file of a response. Returns nil if it cannot be written or is too large.
    func writer(_ response: CachedResponse, at key: String) -> CacheFileWriter? {
        guard let head = CacheFileFormat.head(of: response, key: key) else { return nil }
        return CacheFileWriter(in: path, head: head, limit: largestFile)
    }

    /// Stores a response in place of the ones that its request would get; nil only removes them. Does nothing if the
    /// responses of the URL were removed during the request.
    ///
    /// - Parameters:
    ///   - order: The time at which the request was sent, in nanoseconds since 1970.
    ///   - written: The file of the response, if its body was written already.
    func keep(
        _ response: CachedResponse?, to request: HTTPRequest, at key: String, order: UInt64,
        written: CacheFileWriter? = nil
    ) {
        let new = response.flatMap { written ?? write($0, at: key) }
        try? lock.locked { file in
            guard !CacheRemovals(file: file).contains(number(key), since: order) else { return }
            let folder = folder(key)
            var kept: [String] = []
            var replaced: [String] = []
            for name in names(in: folder).sorted() {
                guard case .response(let stored) = read("\(folder)/\(name)", key, isUse: false) else {
                    replaced.append(name)
                    continue
                }
                guard stored.audience.contains(request) else {
                    kept.append(name)
                    continue
                }
                // A time in the future was written before the clock was set back.
                if let other = UInt64(name), other > order, other <= CacheRemovals.now() { return }
                // A part does not replace a complete response.
                if response?.part != nil, stored.part == nil { return }
                replaced.append(name)
            }
            if let new, !move(new, into: folder, order) { return }
            for name in replaced + kept.dropLast(7) { unlink("\(folder)/\(name)") }
            if new == nil { rmdir(folder) }
        }
        if let new { used(new.size) }
    }

    private func write(_ response: CachedResponse, at key: String) -> CacheFileWriter? {
        guard let writer = writer(response, at: key) else { return nil }
        var position: Int64 = 0
        while position < response.body.count {
            let end = min(position + CacheDirectory.smallSize, response.body.count)
            guard let bytes = response.body.bytes(position..<end), writer.append(bytes) else { return nil }
            position = end
        }
        return writer.complete() ? writer : nil
    }

    private func move(_ file: CacheFileWriter, into folder: String, _ order: UInt64) -> Bool {
        let digits = String(order)
        let name = String(repeating: "0", count: max(20 - digits.count, 0)) + digits
        let target = "\(folder)/\(name)"
        if file.move(to: target) { return true }
        return mkdir(folder, 0o700) == 0 && file.move(to: target)
    }

    /// Removes the responses of a URL.
    func remove(_ key: String) {
        try? lock.locked { file in
            CacheRemovals(file: file).append(number(key))
            removeFolder(folder(key))
        }
    }

    /// Removes the responses for the requests for which another response is stored.
    func remove(_ response: CachedResponse, at key: String) {
        try? lock.locked { _ in
            let folder = folder(key)
            for name in names(in: folder) {
                guard case .response(let stored) = read("\(folder)/\(name)", key, isUse: false),
                    stored.audience == response.audience
                else { continue }
                unlink("\(folder)/\(name)")
            }
            rmdir(folder)
        }
    }

    /// Removes every response.
    func removeAll() {
        try? lock.locked { file in
            CacheRemovals(file: file).append(0)
            for folder in folders() { removeFolder(folder) }
        }
    }

    private func removeFolder(_ folder: String) {
        for name in names(in: folder) { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }

    /// Calls a closure while no other process changes the directory.
    func locked(_ body: () -> Void) {
        try? lock.locked { _ in body() }
    }

    // MARK: Names

    /// The number of stored responses.
    var count: Int { folders().reduce(0) { $0 + names(in: $1).count } }

    /// Returns the number of a URL. Two URLs may have the same one: each file contains its URL.
    private func number(_ key: String) -> UInt64 {
        var checksum = Checksum()
        checksum.update(key.utf8)
        return max(checksum.value, 1)
    }

    /// Returns the folder of a URL: `api.example.com-0f6c3a5e9d2b7184`.
    private func folder(_ key: String) -> String {
        let host = (key.range(of: "://").map { key[$0.upperBound...] } ?? "").utf8.prefix(64).prefix {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
        }
        return "\(path)/\(Substring(host))-\(number(key).hexadecimal)"
    }

    /// Returns the folders of all URLs.
    func folders() -> [String] {
        DirectoryListing.names(in: path).filter { name in
            let number = name.utf8.suffix(17)
            return number.count == 17 && number.first == UInt8(ascii: "-")
                && UInt64(String(decoding: number.dropFirst(), as: UTF8.self), radix: 16) != nil
        }
        .map { "\(path)/\($0)" }
    }

    /// Returns the names of the files in the folder of a URL.
    func names(in folder: String) -> [String] {
        DirectoryListing.names(in: folder).filter { name in
            name.utf8.count == 20 && name.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
    }
}
