import Foundation

/// The directory in which a cache stores responses. Several caches and processes may use it at the same time.
///
/// The directory has a folder for each URL, and each folder has a file for each response (``CacheFileFormat``). The
/// name of a file is the time at which the response's request was sent. A file is written under a temporary name, and
/// is never changed after it has received its final name. A reader therefore finds a complete file or none. Changes are
/// made while the file ``CacheRemovals`` is locked; readers do not lock. The cache does not wait until files are on
/// stable storage, because the checksum detects files that are incomplete after a power failure.
final class CacheDirectory: Sendable {
    let path: String
    let capacity: Int
    let heuristicFreshness: Double
    let lock: FileLock
    let usage = Locked(CacheUsage())
    /// For each URL, the time of the last failed attempt to remove its responses. The key is the number that identifies
    /// the URL; the key 0 means all URLs. A stored response is not used if its request was sent before the time that is
    /// recorded for its URL.
    let pending = Locked<[UInt64: UInt64]>([:])

    /// Uses a directory. Creates the directory if it does not exist. Only its owner can read it.
    ///
    /// - Throws: ``NetworkError/Kind/fileNotWritable`` if others can read an existing directory.
    init(_ url: URL, capacity: Int, heuristicFreshness: Double) throws {
        path = url.path
        self.capacity = capacity
        self.heuristicFreshness = heuristicFreshness
        lock = FileLock(path: path + "/removals")
        try OwnedFolder.create(url)
        try lock.locked { _ in }
    }

    /// The largest size of a file.
    var largestResponse: Int { capacity / 8 }

    /// Begins the file of a response. Returns nil if it cannot be written or is too large.
    func writer(_ response: CachedResponse, at key: String) -> CacheFileWriter? {
        guard let head = CacheFileFormat.head(of: response, key: key) else { return nil }
        return CacheFileWriter(in: path, head: head, limit: Int64(largestResponse))
    }

    /// Stores a response, and removes the stored responses that apply to its request. If the response is nil, only
    /// removes them. Does nothing if the responses of the URL were removed during the request.
    ///
    /// - Parameters:
    ///   - order: The time at which the request was sent, in nanoseconds since 1970.
    ///   - written: The file of the response, if its body was written already.
    func keep(
        _ response: CachedResponse?, to request: HTTPRequest, at key: String, order: UInt64,
        written: CacheFileWriter? = nil
    ) {
        let new = response.flatMap { written ?? write($0, at: key) }
        if response != nil { used(new?.size ?? 0) }
        try? lock.locked { file in
            guard !CacheRemovals(file: file).contains(number(key), since: order) else { return }
            let folder = folder(key)
            var (kept, replaced): ([String], [String]) = ([], [])
            let names = names(in: folder).sorted()
            for name in names {
                switch read("\(folder)/\(name)", key, isUse: false) {
                case .response(let stored) where stored.audience.contains(request):
                    // A stored response to a later request is not replaced. A time in the future is ignored, because it
                    // was written before the clock was set back.
                    if let other = UInt64(name), other > order, other <= CacheRemovals.now() { return }
                    // A partial response does not replace a complete response.
                    if response?.part != nil, stored.part == nil { return }
                    replaced.append(name)
                case .response, .foreign: kept.append(name)
                case .missing, .damaged: replaced.append(name)
                }
            }
            var order = order
            while names.contains(CacheDirectory.name(order)) { order += 1 }
            if let new { move(new, into: folder, order) }
            for name in replaced + kept.dropLast(7) { unlink("\(folder)/\(name)") }
            rmdir(folder)  // has no effect if the folder is not empty
        }
    }

    /// Writes the file of a response. Returns nil if it cannot be written or is too large.
    func write(_ response: CachedResponse, at key: String) -> CacheFileWriter? {
        guard let writer = writer(response, at: key) else { return nil }
        var position: Int64 = 0
        while position < response.body.count {
            let end = min(position + CacheDirectory.smallSize, response.body.count)
            guard let bytes = response.body.bytes(position..<end), writer.append(bytes) else { return nil }
            position = end
        }
        return writer.complete() ? writer : nil
    }

    private func move(_ file: CacheFileWriter, into folder: String, _ order: UInt64) {
        let target = "\(folder)/\(CacheDirectory.name(order))"
        if !file.move(to: target), mkdir(folder, 0o700) == 0 { _ = file.move(to: target) }
    }

    /// The number of stored responses.
    var count: Int { folders().reduce(0) { $0 + names(in: $1).count } }

    /// Returns the number of a URL. Two URLs may have the same number, so each file contains its URL.
    func number(_ key: String) -> UInt64 {
        var checksum = Checksum()
        checksum.update(key.utf8)
        return max(checksum.value, 1)
    }

    /// Returns the name of a file: a number of 20 digits.
    static func name(_ order: UInt64) -> String {
        let digits = String(order)
        return String(repeating: "0", count: max(20 - digits.count, 0)) + digits
    }

    /// Returns the paths of the files that are being written, and of the incomplete files that no process writes any
    /// more.
    func temporaryFiles() -> [String] {
        CacheDirectory.list(path).filter { $0.hasPrefix(CacheFileWriter.prefix) }.map { "\(path)/\($0)" }
    }

    /// Returns the folder of a URL: `api.example.com-0f6c3a5e9d2b7184`.
    func folder(_ key: String) -> String {
        let host = (key.range(of: "://").map { key[$0.upperBound...] } ?? "").utf8.prefix(64).prefix {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
        }
        // A name that begins with a dot would be hidden.
        return "\(path)/\(Substring(host.drop { $0 == UInt8(ascii: ".") }))-\(number(key).hexadecimal)"
    }

    /// Returns the folders of all URLs.
    func folders() -> [String] {
        CacheDirectory.list(path).filter { name in
            let number = name.utf8.suffix(17)
            return number.count == 17 && number.first == UInt8(ascii: "-")
                && UInt64(String(decoding: number.dropFirst(), as: UTF8.self), radix: 16) != nil
        }
        .map { "\(path)/\($0)" }
    }

    /// Returns the names of the files in the folder of a URL.
    func names(in folder: String) -> [String] {
        CacheDirectory.list(folder).filter { name in
            name.utf8.count == 20 && name.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
    }
}
