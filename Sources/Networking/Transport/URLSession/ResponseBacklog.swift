import Foundation

/// The chunks of a response that arrived while the buffer of its reader was full. They are stored until the buffer has
/// room. Used on one queue.
///
/// `URLSession` delivers some bytes, and the end of the response, even after its task has been suspended.
struct ResponseBacklog {
    /// The result of storing a chunk.
    enum Admission: Equatable {
        /// The chunk was stored. If it is the first chunk, the task must be suspended.
        case kept(isFirst: Bool)
        /// The chunk exceeds the capacity.
        case tooMany
    }

    private let capacity: Int
    private var chunks: [Data] = []
    private var bytes = 0
    private var end: (@Sendable () -> Void)?

    /// - Parameter capacity: The largest number of bytes to store.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Whether chunks are stored. If true, the task is suspended.
    var isHeldBack: Bool { !chunks.isEmpty }

    /// Stores a chunk.
    mutating func keep(_ chunk: Data) -> Admission {
        guard bytes + chunk.count <= capacity else { return .tooMany }
        chunks.append(chunk)
        bytes += chunk.count
        return .kept(isFirst: chunks.count == 1)
    }

    /// Records the end of the response.
    ///
    /// - Parameter action: A closure to call after the last chunk, or immediately if no chunk is stored.
    mutating func finish(_ action: @escaping @Sendable () -> Void) {
        if chunks.isEmpty { action() } else { end = action }
    }

    /// Passes chunks on until a chunk is refused.
    ///
    /// - Parameter offer: A closure that takes a chunk, or returns false.
    /// - Returns: True if all chunks were taken. The task must then be resumed.
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

    /// Removes the chunks and the recorded end.
    mutating func removeAll() {
        self = ResponseBacklog(capacity: capacity)
    }
}
