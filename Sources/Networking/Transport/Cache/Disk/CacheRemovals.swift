import Foundation

/// The file that records the removals of all processes that share a directory. A response is not stored if the stored
/// responses of its URL have been removed since its request was sent, because the response may be outdated.
///
/// Each line consists of a time, in nanoseconds since 1970, and the checksum of a URL (`CacheDirectory.number`). Zero
/// stands for all URLs. The caller must lock the file.
struct CacheRemovals {
    private static let lineCount = 37
    /// The size at which the older half of the file is dropped.
    private static let largestSize = lineCount << 10

    let file: Int32

    /// Returns the current time in nanoseconds since 1970.
    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(clamping: Int64(time.tv_sec)) &* 1_000_000_000 &+ UInt64(clamping: Int64(time.tv_nsec))
    }

    /// Records a removal. Returns false if it cannot be written.
    func append(_ url: UInt64) -> Bool {
        var status = stat()
        guard fstat(file, &status) == 0 else { return false }
        var end = Int64(status.st_size) / Int64(CacheRemovals.lineCount) * Int64(CacheRemovals.lineCount)
        if end >= CacheRemovals.largestSize { end = dropOlderHalf(end) }
        let line = CacheRemovals.line(CacheRemovals.now(), url)
        return FileSizeLimit.current >= end + Int64(line.count)
            && pwrite(file, line, line.count, off_t(end)) == line.count
    }

    /// Replaces the older half of the lines by one line for all URLs, with the time of the oldest line that is kept. If
    /// a request was sent before that time, its response is then not stored, because the response may be outdated.
    /// Returns the new size.
    ///
    /// If the process ends while this method writes, the file contains some lines twice. ``contains(_:since:)`` still
    /// finds all removals that it would have found before.
    private func dropOlderHalf(_ size: Int64) -> Int64 {
        let lineCount = Int64(CacheRemovals.lineCount)
        let middle = size / lineCount / 2 * lineCount
        let kept = CacheFile.read(file, middle..<size) ?? []
        let time = UInt64(String(decoding: kept.prefix(19), as: UTF8.self))
        let lines = time.map { CacheRemovals.line($0, 0) + kept } ?? CacheRemovals.line(CacheRemovals.now(), 0)
        guard pwrite(file, lines, lines.count, 0) == lines.count, ftruncate(file, off_t(lines.count)) == 0 else {
            return size
        }
        return Int64(lines.count)
    }

    private static func line(_ time: UInt64, _ url: UInt64) -> [UInt8] {
        let digits = String(time)
        return Array("\(String(repeating: "0", count: max(19 - digits.count, 0)))\(digits) \(url.hexadecimal)\n".utf8)
    }

    /// Returns whether the responses of a URL were removed at the given time or later.
    func contains(_ url: UInt64, since time: UInt64) -> Bool {
        var status = stat()
        // If the file cannot be read, the response is not stored.
        guard fstat(file, &status) == 0 else { return true }
        let now = CacheRemovals.now()
        var end = Int64(status.st_size) / Int64(CacheRemovals.lineCount) * Int64(CacheRemovals.lineCount)
        while end > 0 {
            guard let line = CacheFile.read(file, end - Int64(CacheRemovals.lineCount)..<end),
                let removed = UInt64(String(decoding: line[..<19], as: UTF8.self)),
                let number = UInt64(String(decoding: line[20..<36], as: UTF8.self), radix: 16)
            else {
                // A line that a power failure has damaged counts as a removal of all responses at the current time.
                let repaired = CacheRemovals.line(now, 0)
                pwrite(file, repaired, repaired.count, off_t(end - Int64(CacheRemovals.lineCount)))
                return true
            }
            if removed < time { return false }
            // A time in the future is ignored, because it was written before the clock was set back.
            if number == url || number == 0, removed <= now { return true }
            end -= Int64(CacheRemovals.lineCount)
        }
        return false
    }
}
