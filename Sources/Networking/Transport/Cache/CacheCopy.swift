import Foundation

/// The copy of a body that is being received.
final class CacheCopy: Sendable {
    enum Bytes: Sendable {
        case data(Data)
        case file(CacheFileWriter)
    }

    /// The bytes; nil if the copy was completed or abandoned.
    private let bytes: Locked<Bytes?>
    private let limit: Int

    /// Creates a copy.
    ///
    /// - Parameter limit: The maximum number of bytes in memory.
    init(_ bytes: Bytes, limit: Int = 0) {
        self.bytes = Locked(bytes)
        self.limit = limit
    }

    /// Appends a chunk. Returns false for the first chunk that cannot be stored. Ignores all later chunks, and returns
    /// true for them.
    func append(_ chunk: Data) -> Bool {
        bytes.withLock { bytes in
            switch bytes {
            case .data(var data):
                bytes = nil
                guard data.count + chunk.count <= limit else { return false }
                data.append(chunk)
                bytes = .data(data)
            case .file(let file):
                guard file.append(chunk) else {
                    bytes = nil
                    return false
                }
            case nil: break
            }
            return true
        }
    }

    /// Ends the copy after the last byte. Returns nil if a chunk is missing, or if the file cannot be completed.
    func complete() -> Bytes? {
        bytes.withLock { bytes in
            defer { bytes = nil }
            if case .file(let file) = bytes, !file.complete() { return nil }
            return bytes
        }
    }

    /// Ends the copy before the last byte.
    func abandon() {
        bytes.withLock { $0 = nil }
    }
}
