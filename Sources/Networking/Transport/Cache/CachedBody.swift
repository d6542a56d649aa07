import Foundation

/// The stored bytes of a response: in memory, or in a file of the cache's directory.
enum CachedBody: Sendable {
    case data(Data)
    case file(CacheFile)

    var count: Int64 {
        switch self {
        case .data(let data): Int64(data.count)
        case .file(let file): file.count
        }
    }

    /// Returns bytes of the body; nil if the file cannot be read.
    func bytes(_ range: Range<Int64>) -> Data? {
        switch self {
        case .data(let data):
            let start = data.startIndex + Int(range.lowerBound)
            return range.count == data.count ? data : Data(data[start..<start + range.count])
        case .file(let file): return file.read(range)
        }
    }

    /// Returns bytes of the body as the content of a response. If the bytes are in a file, the content is a stream,
    /// unless the caller asks for the content in memory and the bytes fit into the caller's limit. Returns nil if the
    /// file cannot be read.
    func content(_ range: Range<Int64>, _ delivery: BodyDelivery) -> HTTPResponse.Content? {
        if case .file(let file) = self {
            guard case .buffered(let limit) = delivery, range.count <= limit else {
                return .stream(IncomingBody(file, range))
            }
        }
        return bytes(range).map { .data($0) }
    }
}

extension IncomingBody {
    /// The number of bytes that are read from a file at once.
    private static let chunkSize: Int64 = 1 << 16

    /// Creates a body whose bytes are read from a file of a cache.
    fileprivate init(_ file: CacheFile, _ range: Range<Int64>) {
        let position = Locked(range.lowerBound)
        self.init(pull: {
            try position.withLock { position in
                guard position < range.upperBound else { return nil }
                let end = Swift.min(position + IncomingBody.chunkSize, range.upperBound)
                guard let chunk = file.read(position..<end) else {
                    throw NetworkError(
                        .unknown,
                        reason: "the response cache cannot read the file that contains the body of the stored response")
                }
                position = end
                return chunk
            }
        })
    }
}

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

    /// True if the copy was completed or abandoned, or if a chunk could not be stored.
    var isOver: Bool { bytes.withLock { $0 == nil } }

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
