import Foundation

/// A byte buffer between one writer, which never waits, and one reader, which waits for bytes.
///
/// The pipe accepts a chunk while fewer than `capacity` bytes are buffered; otherwise, it refuses the chunk. After a
/// refusal, the pipe calls `onRoom` when half of the capacity is free, so that the writer is not woken for each chunk.
/// The pipe calls `onAbandon` if the reader stops reading before the end. Both closures are called outside the lock.
final class BytePipe: Sendable {
    /// The result of writing a chunk.
    enum WriteResult: Equatable {
        /// The pipe has accepted the chunk.
        case taken
        /// The pipe has refused the chunk. It calls `onRoom` when the writer should try the chunk again.
        case full
        /// The pipe has refused the chunk, because the reader has stopped reading or the pipe is finished.
        case abandoned
    }

    /// The error of a read that begins while another read waits. A pipe supports only one reader at a time.
    struct ConcurrentRead: Error {}

    private struct State: Sendable {
        var chunks: [Data] = []
        var buffered = 0
        var end: Result<Void, any Error>?
        var reader: Settlement<Void>?
        var isWriterRefused = false
        var isAbandoned = false
    }

    private enum Step {
        case item(Data?, makesRoom: Bool)
        case wait(Settlement<Void>)
    }

    private let capacity: Int
    private let onRoom: @Sendable () -> Void
    private let onAbandon: @Sendable () -> Void
    private let state = Locked(State())

    init(
        capacity: Int, onRoom: @escaping @Sendable () -> Void = {}, onAbandon: @escaping @Sendable () -> Void = {}
    ) {
        self.capacity = capacity
        self.onRoom = onRoom
        self.onAbandon = onAbandon
    }

    /// Writes a chunk, if fewer than `capacity` bytes are buffered.
    func write(_ chunk: Data) -> WriteResult {
        let (result, reader): (WriteResult, Settlement<Void>?) = state.withLock { state in
            if state.isAbandoned || state.end != nil { return (.abandoned, nil) }
            if state.buffered >= capacity {
                state.isWriterRefused = true
                return (.full, nil)
            }
            // A server can send single bytes. Small chunks are joined, so that a chunk needs little more memory than
            // its bytes.
            if let last = state.chunks.indices.last, state.chunks[last].count + chunk.count <= capacity / 64 {
                state.chunks[last] += chunk
            } else {
                state.chunks.append(chunk)
            }
            state.buffered += chunk.count
            return (.taken, state.reader)
        }
        reader?.settle(.success(()))
        return result
    }

    /// Finishes the pipe, with success or with the error that ended the transfer early. Only the first call has an
    /// effect.
    func finish(_ end: Result<Void, any Error> = .success(())) {
        let reader = state.withLock { state in
            if state.end == nil { state.end = end }
            return state.reader
        }
        reader?.settle(.success(()))
    }

    /// Returns the next chunk, or nil at the end. Waits if no chunk is buffered. If the wait is interrupted, no bytes
    /// are lost.
    func next() async throws -> Data? {
        while true {
            switch try step() {
            case .item(let chunk, let makesRoom):
                if makesRoom { onRoom() }
                return chunk
            case .wait(let reader):
                defer { state.withLock { $0.reader = nil } }
                try await reader.value()
            }
        }
    }

    /// Stops reading: drops the buffered bytes, and calls `onAbandon` unless the pipe is finished.
    func abandon() {
        let wasOpen = state.withLock { state in
            guard !state.isAbandoned else { return false }
            state.isAbandoned = true
            state.chunks = []
            state.buffered = 0
            return state.end == nil
        }
        if wasOpen { onAbandon() }
    }

    private func step() throws -> Step {
        try state.withLock { state in
            guard state.reader == nil else { throw ConcurrentRead() }
            if state.chunks.isEmpty {
                if let end = state.end {
                    try end.get()
                    return .item(nil, makesRoom: false)
                }
                let reader = Settlement<Void>()
                state.reader = reader
                return .wait(reader)
            }
            let chunk = state.chunks.removeFirst()
            state.buffered -= chunk.count
            let makesRoom = state.isWriterRefused && state.buffered <= capacity / 2
            if makesRoom { state.isWriterRefused = false }
            return .item(chunk, makesRoom: makesRoom)
        }
    }
}
