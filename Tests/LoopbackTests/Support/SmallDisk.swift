import Foundation

/// A file system of 256 KiB that is mounted as long as the value exists.
final class SmallDisk {
    let url: URL

    /// Whether the system lets this process mount a file system.
    static var isAllowed: Bool {
        guard let scratch = try? Scratch() else { return false }
        return SmallDisk(at: scratch.file("disk")) != nil
    }

    init?(at url: URL) {
        self.url = url
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let folder = url.deletingLastPathComponent()
        guard (try? Tool(name: "mount").run(["-t", "tmpfs", "-o", "size=256k", "tmpfs", url.path], in: folder)) != nil
        else {
            return nil
        }
    }

    deinit {
        try? Tool(name: "umount").run([url.path], in: url.deletingLastPathComponent())
    }
}
