import Foundation

/// Reads the bytes of a file in advance on a private queue, so that the thread that sends the body never waits for the
/// disk.
final class FileBodyReader: HTTPBody.Reader, @unchecked Sendable {  // because of the lock around every variable
    private static let chunkSize = 256 << 10
    /// The number of chunks that are read ahead.
    private static let readAhead = 2

    private let lock = NSLock()
    // Without a target, each of these queues would occupy a thread of its own while it waits for the disk. The target
    // is not the global queue of the default class: on Linux, that queue shares its threads with tasks, which must not
    // wait for the disk.
    private let queue = DispatchQueue(label: "networking.file-body", target: .global(qos: .userInitiated))
    private let file: FileHandle
    private var left: Int
    private var chunks: [Data] = []
    /// The number of bytes of the first chunk that the sender has already taken.
    private var position = 0
    private var isReading = false
    private var isAtEnd = false
    private var isWaiting = false
    private var failure: (any Error)?
    private var wake: @Sendable () -> Void = {}
    private let check: (@Sendable (_ isEnd: Bool) throws -> Void)?
    private var isClosed = false

    /// - Parameters:
    ///   - length: The number of bytes to read. If the file has become longer, the rest is ignored.
    ///   - check: Called on the queue that reads the file, after bytes have been read and before they can be sent;
    ///     `isEnd` says whether they are the last bytes. Not called after the reader has been closed. If the closure
    ///     throws, reading ends with the closure's error.
    init(_ file: FileHandle, length: Int, check: (@Sendable (_ isEnd: Bool) throws -> Void)? = nil) {
        self.file = file
        self.check = check
        left = length
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> HTTPBody.ReadResult {
        let (result, reads): (Result<HTTPBody.ReadResult, any Error>, Bool) = lock.withLock {
            let result = take(into: buffer)
            let reads = !isReading && !isAtEnd && chunks.count < FileBodyReader.readAhead
            if reads { isReading = true }
            return (result, reads)
        }
        if reads { queue.async { [self] in fill() } }
        return try result.get()
    }

    func onReady(_ wake: @escaping @Sendable () -> Void) {
        let isReady = lock.withLock {
            self.wake = wake
            return isWaiting && (!chunks.isEmpty || isAtEnd)
        }
        if isReady { wake() }
    }

    func close() {
        lock.withLock { isClosed = true }
        queue.async { [file] in try? file.close() }
    }

    /// Copies bytes of the first chunk into the buffer. Call this method while the lock is held.
    private func take(into buffer: UnsafeMutableRawBufferPointer) -> Result<HTTPBody.ReadResult, any Error> {
        guard let chunk = chunks.first else {
            if let failure { return .failure(failure) }
            isWaiting = !isAtEnd
            return .success(isAtEnd ? .end : .notYet)
        }
        let count = min(buffer.count, chunk.count - position)
        let start = chunk.startIndex + position
        chunk.copyBytes(to: buffer, from: start..<(start + count))
        position += count
        if position == chunk.count {
            chunks.removeFirst()
            position = 0
        }
        return .success(.bytes(count))
    }

    /// Reads one chunk, and schedules the next read if there is room for another chunk.
    private func fill() {
        let wanted = lock.withLock { min(left, FileBodyReader.chunkSize) }
        let chunk = Result {
            let bytes = try wanted > 0 ? file.read(upToCount: wanted) ?? Data() : Data()
            let (isOpen, isEnd) = lock.withLock { (!isClosed, left == bytes.count) }
            if isOpen { try check?(isEnd) }
            return bytes
        }
        let (wake, goesOn): ((@Sendable () -> Void)?, Bool) = lock.withLock {
            switch chunk {
            case .success(let bytes):
                if !bytes.isEmpty { chunks.append(bytes) }
                left -= bytes.count
                isAtEnd = bytes.isEmpty || left == 0
            case .failure(let error): (failure, isAtEnd) = (error, true)
            }
            isReading = !isAtEnd && chunks.count < FileBodyReader.readAhead
            defer { isWaiting = false }
            return (isWaiting ? self.wake : nil, isReading)
        }
        wake?()
        if goesOn { queue.async { [self] in fill() } }
    }
}
