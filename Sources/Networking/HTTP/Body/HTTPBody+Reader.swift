import Foundation

extension HTTPBody {
    /// What a ``HTTPBody/Reader`` returns.
    public enum ReadResult: Equatable, Sendable {
        /// So many bytes were put into the buffer; at least one.
        case bytes(Int)
        /// There is nothing more.
        case end
        /// Nothing is there yet; the wake-up given to ``HTTPBody/Reader/onReady(_:)`` will say when to read again.
        case notYet
    }
}

extension HTTPBody {
    /// Reads one opened request body, once, from the beginning to the end.
    ///
    /// Implement it to send a body that the library cannot make for you. An engine calls `read` from a thread that carries
    /// other requests too: never block in it. If there are no bytes yet, return ``HTTPBody/ReadResult/notYet``, and call the wake-up
    /// when there are.
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
        /// Puts the next bytes into the buffer, which has room for at least 4,096. An error ends the transfer; it underlies
        /// the call's error, of kind ``NetworkError/Kind/bodyUnreadable``, unless it is a ``NetworkError`` itself.
        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> HTTPBody.ReadResult
        /// Takes the closure to call, from any thread, when reading makes sense again after ``HTTPBody/ReadResult/notYet``.
        func onReady(_ wake: @escaping @Sendable () -> Void)
        /// Is called once, when nothing more will be read, whether the end was reached or not.
        func close()
    }
}

extension HTTPBody.Reader {
    /// Does nothing: right for a reader that never returns ``HTTPBody/ReadResult/notYet``.
    public func onReady(_ wake: @escaping @Sendable () -> Void) {}
    /// Does nothing: right for a reader that holds nothing open.
    public func close() {}
}

extension HTTPBody.Reader {
    /// Reads, with what it throws made an error of the request's body.
    func readNext(into buffer: UnsafeMutableRawBufferPointer) throws(NetworkError) -> HTTPBody.ReadResult {
        let result: HTTPBody.ReadResult
        do { result = try read(into: buffer) } catch { throw .bodyUnreadable(error) }
        if case .bytes(let count) = result, count < 1 || count > buffer.count {
            let reader = type(of: self)
            throw NetworkError(
                .bodyUnreadable,
                reason: "the request's body: \(reader) says that it put \(count) bytes into a buffer of \(buffer.count)"
            )
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
