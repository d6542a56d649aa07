import Foundation

/// Writes the file of one response under a temporary name. The file is removed unless it receives its final name.
final class CacheFileWriter: Sendable {
    private struct State: Sendable {
        var checksum = Checksum()
        var size: Int64
        var isComplete = false
        var isMoved = false
    }

    private let path: String
    private let descriptor: Int32
    private let limit: Int64
    private let state: Locked<State>

    /// Creates a file and writes its head. Returns nil if the file cannot be written.
    ///
    /// - Parameter limit: The maximum size of the file in bytes.
    init?(in folder: String, head: Data, limit: Int64) {
        path = "\(folder)/\(CacheFileWriter.prefix)\(UUID().uuidString)"
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        self.limit = limit
        let line = CacheFileFormat.firstLine(checksum: 0)
        state = Locked(State(size: Int64(line.count)))
        guard descriptor >= 0, writeFile(descriptor, line, at: 0), append(head) else { return nil }
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        if !state.withLock({ $0.isMoved }) { unlink(path) }
    }

    /// The beginning of the names of files that are being written.
    static let prefix = "new-"

    /// The size of the file in bytes.
    var size: Int64 { state.withLock { $0.size } }

    /// Appends bytes of the body. Returns false if they cannot be written.
    func append(_ data: Data) -> Bool {
        state.withLock { state in
            guard !state.isComplete, state.size + Int64(data.count) <= limit,
                writeFile(descriptor, data, at: state.size)
            else { return false }
            data.withUnsafeBytes { state.checksum.update($0) }
            state.size += Int64(data.count)
            return true
        }
    }

    /// Completes the file with its checksum. Returns false if the checksum cannot be written.
    func complete() -> Bool {
        state.withLock { state in
            guard !state.isComplete else { return true }
            let line = CacheFileFormat.firstLine(checksum: state.checksum.value)
            state.isComplete = writeFile(descriptor, line, at: 0)
            return state.isComplete
        }
    }

    /// Gives the complete file its final name. Returns false if that is not possible.
    func move(to path: String) -> Bool {
        state.withLock { state in
            guard state.isComplete, !state.isMoved, rename(self.path, path) == 0 else { return false }
            state.isMoved = true
            return true
        }
    }
}
