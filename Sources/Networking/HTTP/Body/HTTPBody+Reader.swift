import Foundation

extension HTTPBody {
    /// The result of one call of ``HTTPBody/Reader/read(into:)``.
    public enum ReadResult: Equatable, Sendable {
        /// The number of bytes that the reader copied into the buffer. At least 1.
        case bytes(Int)
        /// The end of the body.
        case end
        /// No bytes are available yet. The reader calls the closure given to ``HTTPBody/Reader/onReady(_:)`` when
        /// bytes are available.
        case notYet
    }
}

extension HTTPBody {
    /// Reads the bytes of a request body once, from the beginning to the end.
    ///
    /// Implement this protocol to send a body that the library cannot create. An engine calls `read` on a thread that
    /// also serves other requests, so `read` must never block. If no bytes are available yet, return
    /// ``HTTPBody/ReadResult/notYet``, and call the closure given to `onReady` when bytes are available.
    ///
    /// ```swift
    /// final class CountdownReader: HTTPBody.Reader, @unchecked Sendable {  // because one thread reads at a time
    ///     private var lines = ["1\n", "2\n", "3\n"]
    ///
    ///     func read(into buffer: UnsafeMutableRawBufferPointer) throws -> HTTPBody.ReadResult {
    ///         guard let line = lines.popLast() else { return .end }
    ///         buffer.copyBytes(from: line.utf8)
    ///         return .bytes(line.utf8.count)
    ///     }
    /// }
    /// ```
    public protocol Reader: AnyObject, Sendable {
        /// Copies the next bytes into the buffer, which has room for at least 4,096 bytes.
        ///
        /// - Throws: An error, which ends the transfer. If it is not a ``NetworkError``, it becomes the underlying
        ///   error of a ``NetworkError`` of kind ``NetworkError/Kind/bodyUnreadable``.
        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> HTTPBody.ReadResult
        /// Stores the closure to call when bytes are available again after ``HTTPBody/ReadResult/notYet``. The closure
        /// may be called from any thread.
        func onReady(_ wake: @escaping @Sendable () -> Void)
        /// Releases the reader's resources. The engine calls this method once, after the last `read`, even if the
        /// reader did not reach the end of the body.
        func close()
    }
}

extension HTTPBody.Reader {
    /// Does nothing. This is correct for a reader that never returns ``HTTPBody/ReadResult/notYet``.
    public func onReady(_ wake: @escaping @Sendable () -> Void) {}
    /// Does nothing. This is correct for a reader that has no resources to release.
    public func close() {}
}

extension HTTPBody.Reader {
    /// Reads the next bytes. An error of the reader is thrown as an error of the request's body.
    func readNext(into buffer: UnsafeMutableRawBufferPointer) throws(NetworkError) -> HTTPBody.ReadResult {
        let result: HTTPBody.ReadResult
        do { result = try read(into: buffer) } catch { throw .bodyUnreadable(error) }
        if case .bytes(let count) = result, count < 1 || count > buffer.count {
            throw .bodyUnreadable("\(type(of: self)) returned \(count) bytes for a buffer of \(buffer.count) bytes")
        }
        return result
    }
}

/// Reads bytes that are in memory.
final class DataBodyReader: HTTPBody.Reader {
    private let data: Data
    private let position = Locked(0)

    init(_ data: Data) {
        self.data = data
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> HTTPBody.ReadResult {
        position.withLock { position in
            let count = min(buffer.count, data.count - position)
            guard count > 0 else { return .end }
            let start = data.startIndex + position
            data.copyBytes(to: buffer, from: start..<(start + count))
            position += count
            return .bytes(count)
        }
    }
}

extension HTTPBody {
    /// Returns a body that consists of other bodies, one after another.
    static func concatenated(_ bodies: [HTTPBody]) -> HTTPBody {
        let lengths = bodies.compactMap(\.length)
        return HTTPBody(
            .source(
                Source(
                    length: lengths.count == bodies.count ? lengths.reduce(0, +) : nil,
                    isReplayable: bodies.allSatisfy(\.isReplayable), pieces: bodies.flatMap(\.pieces),
                    open: { ConcatenatedBodyReader(bodies) })))
    }
}

/// Reads bodies one after another. Opens each body when the previous body has ended. Throws an error if the number of
/// bytes of a body differs from its `length`.
final class ConcatenatedBodyReader: HTTPBody.Reader, @unchecked Sendable {  // because of the lock around every variable
    private let lock = NSLock()
    private var bodies: ArraySlice<HTTPBody>
    private var current: (reader: any HTTPBody.Reader, left: Int?)?
    private var wake: @Sendable () -> Void = {}

    init(_ bodies: [HTTPBody]) {
        self.bodies = bodies[...]
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> HTTPBody.ReadResult {
        while let (reader, left) = try opened() {
            let result = try reader.readNext(into: buffer)
            switch result {
            case .notYet:
                return .notYet
            case .bytes(let count):
                guard let left else { return result }
                guard count <= left else { throw ConcatenatedBodyReader.wrongLength("more") }
                lock.withLock { current?.left = left - count }
                return result
            case .end:
                guard left ?? 0 == 0 else { throw ConcatenatedBodyReader.wrongLength("fewer") }
                reader.close()
                lock.withLock { current = nil }
            }
        }
        return .end
    }

    func onReady(_ wake: @escaping @Sendable () -> Void) {
        let reader = lock.withLock {
            self.wake = wake
            return current?.reader
        }
        reader?.onReady(wake)
    }

    func close() {
        lock.withLock { current }?.reader.close()
    }

    /// Returns the reader of the current body. If no body is open, opens the next body. Returns nil at the end.
    private func opened() throws -> (reader: any HTTPBody.Reader, left: Int?)? {
        if let current = lock.withLock({ current }) { return current }
        let (next, wake) = lock.withLock { (bodies.popFirst(), self.wake) }
        guard let next else { return nil }
        let reader = try next.open()
        reader.onReady(wake)
        lock.withLock { current = (reader, next.length) }
        return (reader, next.length)
    }

    private static func wrongLength(_ words: String) -> NetworkError {
        .bodyUnreadable("one of its parts supplied \(words) bytes than its length")
    }
}
