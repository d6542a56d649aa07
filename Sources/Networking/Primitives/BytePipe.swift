import Foundation

/// Hands bytes from one writer, which never waits, to one reader, which does.
///
/// A chunk is taken as long as fewer than `capacity` bytes wait; the next one is refused. Once the reader has made
/// room after a refusal, `onRoom` is called. When the reader leaves before the end, `onAbandon` is. Both are called
/// outside the lock.
final class BytePipe: Sendable {
    /// What became of a chunk.
    enum WriteResult: Equatable {
        /// It was taken.
        case taken
        /// It was not taken; `onRoom` will say when to offer it again.
        case full
        /// Nobody reads any more.
        case abandoned
    }

    /// Two readers at once: each chunk has one.
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

    /// Offers a chunk.
    func write(_ chunk: Data) -> WriteResult {
        let (result, reader): (WriteResult, Settlement<Void>?) = state.withLock { state in
            if state.isAbandoned || state.end != nil { return (.abandoned, nil) }
            if state.buffered >= capacity {
                state.isWriterRefused = true
                return (.full, nil)
            }
            state.chunks.append(chunk)
            state.buffered += chunk.count
            return (.taken, state.reader)
        }
        reader?.settle(.success(()))
        return result
    }

    /// Says that nothing more comes: the end, or the error that cut the bytes off. Only the first call counts.
    func finish(_ end: Result<Void, any Error> = .success(())) {
        let reader = state.withLock { state in
            if state.end == nil { state.end = end }
            return state.reader
        }
        reader?.settle(.success(()))
    }

    /// The next chunk, or nil at the end. Waits while there is none; a wait that is ended loses no bytes.
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

    /// The reader leaves: what is buffered is dropped, and the writer is notified unless it has finished.
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
            defer { state.isWriterRefused = false }
            return .item(chunk, makesRoom: state.isWriterRefused)
        }
    }
}
