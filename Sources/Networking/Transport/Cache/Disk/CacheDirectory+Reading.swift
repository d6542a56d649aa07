import Foundation

/// Reading.
extension CacheDirectory {
    /// Returns the most suitable stored response for a request.
    func response(at key: String, to request: HTTPRequest) -> CachedResponse? {
        let folder = folder(key)
        // A file may be replaced after the folder was listed. The next attempt then finds the new file.
        for _ in 0..<3 {
            var isChanged = false
            for name in candidates(in: folder, key, for: request) {
                switch read("\(folder)/\(name)", key, isUse: true) {
                case .missing: isChanged = true
                case .response(let found): if found.audience.contains(request) { return found }
                case .damaged, .foreign: continue
                }
            }
            if !isChanged { return nil }
        }
        return nil
    }

    /// Returns the names of the files that may contain the response for a request, the most suitable one first.
    private func candidates(in folder: String, _ key: String, for request: HTTPRequest) -> [String] {
        let removed = removalTime(of: number(key))
        let names = names(in: folder).filter { UInt64($0).map { $0 > removed } ?? false }.sorted()
        guard names.count > 1 else { return names }
        var responses: [CachedResponse] = []
        var missing: [String] = []
        for name in names {
            switch read("\(folder)/\(name)", key, isUse: false) {
            case .missing: missing.append(name)
            case .response(var response):
                response.order = UInt64(name) ?? 0
                responses.append(response)
            case .damaged, .foreign: continue
            }
        }
        var sorted: [String] = []
        while let next = responses.mostSuitable(for: request) {
            sorted.append(CacheDirectory.name(next.order))
            responses.removeAll { $0.order == next.order }
        }
        return sorted + missing
    }

    enum Reading {
        case response(CachedResponse)
        /// The file was removed meanwhile.
        case missing
        /// The bytes of the file differ from those that were written.
        case damaged
        /// The file cannot be read now, is too large, has the format of another version, or belongs to another URL.
        case foreign
    }

    /// The maximum size of a file that is read into memory at once.
    static let smallSize: Int64 = 1 << 18

    /// Reads a file.
    ///
    /// - Parameter isUse: Whether the response will be used. If true, the checksum of the file is verified. If false,
    ///   only the head of the response is needed.
    func read(_ path: String, _ key: String, isUse: Bool) -> Reading {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return errno == ENOENT ? .missing : .foreign }
        var isOpen = true
        defer { if isOpen { close(file) } }
        var status = stat()
        guard fstat(file, &status) == 0, Int64(status.st_size) <= Int64(largestResponse) else { return .foreign }
        let size = Int64(status.st_size)
        guard let bytes = CacheFile.read(file, 0..<min(size, CacheDirectory.smallSize)),
            let checksum = CacheFileFormat.checksum(bytes)
        else { return .foreign }
        guard !isUse || CacheDirectory.checksum(file, bytes, size) == checksum,
            let head = CacheFileFormat.Head(bytes[CacheFileFormat.firstLineCount...])
        else { return .damaged }
        guard head.key == key else { return .foreign }
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

    /// Returns the checksum of the bytes after a file's first line; nil if the file cannot be read.
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
}
