import Foundation

/// A folder of this process, which is emptied before each input.
struct FuzzFolder: Sendable {
    let url: URL

    init(_ name: String) {
        url = FuzzFolder.parent
            .appendingPathComponent("networking-fuzz-\(ProcessInfo.processInfo.processIdentifier)-\(name)")
    }

    /// A folder in memory, if the system has one, because every input creates files.
    private static let parent: URL = {
        let memory = "/dev/shm"
        return FileManager.default.isWritableFile(atPath: memory)
            ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
    }()

    /// Removes all files in the folder, and creates it if necessary.
    func empty() throws {
        if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// The URLs of all files and folders below this folder.
    var files: [URL] {
        FileManager.default.subpathsAtPath(url.path).map { url.appendingPathComponent($0) }
    }

    /// Removes the folders of the process.
    package static func removeAll() {
        let prefix = "networking-fuzz-\(ProcessInfo.processInfo.processIdentifier)-"
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        where name.hasPrefix(prefix) {
            try? FileManager.default.removeItem(at: parent.appendingPathComponent(name))
        }
    }
}

extension FileManager {
    fileprivate func subpathsAtPath(_ path: String) -> [String] {
        (try? subpathsOfDirectory(atPath: path)) ?? []
    }
}
