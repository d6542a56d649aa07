import Foundation

/// The size of a shared directory, as far as one process knows it.
struct CacheUsage: Sendable {
    /// The size in bytes of all files when they were last counted, plus the size of the files that this process has
    /// written since then.
    fileprivate var size: Int64 = 0
    /// The bytes that this process has written since the files were counted.
    fileprivate var written: Int64 = 0
    /// Whether the files have never been counted.
    fileprivate var isUnknown = true
    fileprivate var isCounting = false
}

/// Enforcing the capacity.
extension CacheDirectory {
    /// Records that a file was written. The files are counted in the background: after this process has written its
    /// first file, when the capacity is exceeded, and each time this process has written an eighth of the capacity. The
    /// count includes files that other processes have written.
    func used(_ size: Int64) {
        let mustCount = usage.withLock { usage in
            usage.size += CacheDirectory.blocks(size)
            usage.written += CacheDirectory.blocks(size)
            let isDue = usage.isUnknown || usage.size > Int64(capacity) || usage.written > Int64(largestResponse)
            guard isDue, !usage.isCounting else { return false }
            usage.isCounting = true
            return true
        }
        if mustCount { DispatchQueue.global(qos: .utility).async { self.makeRoom() } }
    }

    private struct File {
        let path: String
        let folder: String
        let size: Int64
        let used: timespec
    }

    /// Counts the files. If they exceed the capacity, removes the least recently used ones until an eighth of the
    /// capacity is free. Also removes incomplete files that no process writes any more.
    func makeRoom() {
        removeRemains()
        usage.withLock { $0.written = 0 }
        var files: [File] = []
        for folder in folders() {
            for name in names(in: folder) {
                var status = stat()
                let path = "\(folder)/\(name)"
                guard lstat(path, &status) == 0 else { continue }
                files.append(
                    File(
                        path: path, folder: folder, size: CacheDirectory.blocks(Int64(status.st_size)),
                        used: status.modificationTime))
            }
        }
        // A file whose time is in the future was used before the clock was set back. Such files are removed first.
        let latest = time(nil) + 60
        var size = files.reduce(0) { $0 + $1.size }
        if size > Int64(capacity) {
            files.sort { one, other in
                let (first, second) = (one.used.tv_sec > latest, other.used.tv_sec > latest)
                if first != second { return first }
                return (one.used.tv_sec, one.used.tv_nsec) < (other.used.tv_sec, other.used.tv_nsec)
            }
            try? lock.locked { _ in
                for file in files {
                    guard size > Int64(capacity - capacity / 8) else { return }
                    unlink(file.path)
                    rmdir(file.folder)
                    size -= file.size
                }
            }
        }
        usage.withLock { [size] usage in
            usage.size = size + usage.written
            usage.isUnknown = false
            usage.isCounting = false
        }
    }

    /// Removes temporary files to which no process has written for an hour.
    private func removeRemains() {
        for file in temporaryFiles() {
            var status = stat()
            guard lstat(file, &status) == 0, abs(time(nil) - status.modificationTime.tv_sec) > 3_600 else {
                continue
            }
            unlink(file)
        }
    }

    /// Records the use of an open file, at most once a minute. The modification time of a file is the time of its last
    /// use.
    func markUsed(_ file: Int32, _ status: stat) {
        if abs(time(nil) - status.modificationTime.tv_sec) > 60 { futimens(file, nil) }
    }

    /// The size in bytes of a file and its folder. Both occupy whole blocks.
    private static func blocks(_ size: Int64) -> Int64 { (size + 4_095) / 4_096 * 4_096 + 4_096 }

    /// Returns the names of the files in a folder, except names that begin with a dot. Returns an empty array if the
    /// folder cannot be read.
    static func list(_ folder: String) -> [String] {
        ((try? OwnedFolder.names(folder)) ?? []).filter { !$0.hasPrefix(".") }
    }
}
