import Foundation

/// The chunks of a response that arrived after its reader had no more room, until it has. Used on one queue.
///
/// `URLSession` delivers some bytes, and the end of the response, after its task was suspended.
struct ResponseBacklog {
    /// What became of a chunk.
    enum Admission: Equatable {
        /// It is kept. If it is the first one, the task is to be suspended.
        case kept(isFirst: Bool)
        /// It is more than may be kept.
        case tooMany
    }

    private let capacity: Int
    private var chunks: [Data] = []
    private var bytes = 0
    private var end: (@Sendable () -> Void)?

    /// - Parameter capacity: The largest number of bytes to keep.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Whether the task is suspended.
    var isHeldBack: Bool { !chunks.isEmpty }

    /// Keeps a chunk.
    mutating func keep(_ chunk: Data) -> Admission {
        guard bytes + chunk.count <= capacity else { return .tooMany }
        chunks.append(chunk)
        bytes += chunk.count
        return .kept(isFirst: chunks.count == 1)
    }

    /// The response has ended.
    ///
    /// - Parameter action: Called after the last chunk; at once if there is none.
    mutating func finish(_ action: @escaping @Sendable () -> Void) {
        if chunks.isEmpty { action() } else { end = action }
    }

    /// Passes chunks on until one is refused.
    ///
    /// - Parameter offer: Takes a chunk, or returns false.
    /// - Returns: Whether all were taken, so that the task is to be resumed.
    mutating func drain(_ offer: (Data) -> Bool) -> Bool {
        var count = 0
        while count < chunks.count, offer(chunks[count]) {
            bytes -= chunks[count].count
            count += 1
        }
        chunks.removeFirst(count)
        guard chunks.isEmpty else { return false }
        end?()
        end = nil
        return true
    }

    /// Forgets the chunks and the end.
    mutating func removeAll() {
        self = ResponseBacklog(capacity: capacity)
    }
}
