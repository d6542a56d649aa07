public import Foundation

extension HTTPBody {
    /// Creates a body whose bytes an asynchronous sequence supplies while they are sent, for example to forward the
    /// body of a response. Each chunk is requested after the previous chunk has been sent. The body can be sent only
    /// once. It cannot be sent again by a retry, by a redirect or after a token refresh.
    ///
    /// - Parameters:
    ///   - chunks: The chunks. An error that the sequence throws ends the call with
    ///     ``NetworkError/Kind/bodyUnreadable``.
    ///   - length: The number of bytes. Default: nil, not known; the body is sent in chunks. If the sequence supplies a
    ///     different number of bytes, the call also ends with ``NetworkError/Kind/bodyUnreadable``. The last chunk is
    ///     sent when the sequence has ended.
    ///   - contentType: The media type; nil for no `Content-Type`.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, length: Int? = nil, contentType: MediaType? = .octetStream
    ) -> HTTPBody where Chunks.Element: DataProtocol {
        .source(length: length, isReplayable: false, contentType: contentType) {
            SequenceBodyReader(chunks, length)
        }
    }

    /// Creates a body whose bytes an asynchronous sequence supplies while they are sent. A closure creates the sequence
    /// each time the body is sent, so that the body can be repeated.
    ///
    /// - Parameters:
    ///   - length: The number of bytes. Default: nil, not known; the body is sent in chunks.
    ///   - contentType: The media type; nil for no `Content-Type`.
    ///   - open: Returns the chunks from the beginning.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        length: Int? = nil, contentType: MediaType? = .octetStream, _ open: @escaping @Sendable () throws -> Chunks
    ) -> HTTPBody where Chunks.Element: DataProtocol {
        .source(length: length, isReplayable: true, contentType: contentType) {
            SequenceBodyReader(try open(), length)
        }
    }

    /// Creates a body whose bytes an input stream supplies while they are sent. A closure creates the stream each time
    /// the body is sent, so that the body can be repeated. The stream is read on a dispatch queue of its own. A read
    /// that blocks occupies a thread until the read returns, even if the call has ended.
    ///
    /// - Parameters:
    ///   - length: The number of bytes. Default: nil, not known; the body is sent in chunks.
    ///   - contentType: The media type; nil for no `Content-Type`.
    ///   - open: Returns a stream that has not been opened. Nil ends the call with
    ///     ``NetworkError/Kind/bodyUnreadable``.
    public static func stream(
        length: Int? = nil, contentType: MediaType? = .octetStream,
        _ open: @escaping @Sendable () throws -> InputStream?
    ) -> HTTPBody {
        .stream(length: length, contentType: contentType) { InputStreamChunks(open: open) }
    }
}

extension HTTPBody.Part {
    /// Creates a part whose bytes an input stream supplies while they are sent.
    ///
    /// - Parameters:
    ///   - name: The name of the form field.
    ///   - fileName: The name that is sent to the server; nil for a field that is not a file.
    ///   - length: The number of bytes. Default: nil, not known; the whole body is then sent in chunks.
    ///   - contentType: The media type.
    ///   - open: Returns a stream that has not been opened. The closure runs each time the body is sent.
    public static func stream(
        _ name: String, fileName: String?, length: Int? = nil, contentType: MediaType = .octetStream,
        _ open: @escaping @Sendable () throws -> InputStream?
    ) -> HTTPBody.Part {
        HTTPBody.Part(name, fileName: fileName, body: .stream(length: length, contentType: contentType, open))
    }
}

/// Reads the chunks of an asynchronous sequence in a task of its own, one chunk ahead.
private final class SequenceBodyReader: HTTPBody.Reader {
    private struct State: Sendable {
        /// The rest of the chunk that is being sent.
        var chunk = Data()
        /// Settled when the chunk has been sent. The value is false if no further chunk is needed.
        var isTaken: Settlement<Bool>?
        var end: Result<Void, any Error>?
        var wake: @Sendable () -> Void = {}
        var isClosed = false
    }

    private let state = Locked(State())
    private let task: Task<Void, Never>

    /// - Parameter length: The number of bytes that the chunks must have; nil for any number.
    init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks, _ length: Int?) where Chunks.Element: DataProtocol {
        task = Task { [state] in
            let end: Result<Void, any Error>
            do {
                var (iterator, total) = (chunks.makeAsyncIterator(), 0)
                while let chunk = try await iterator.next() {
                    total += chunk.count
                    // Surplus bytes are detected before the last byte is sent, because sending the last byte completes
                    // the request.
                    while total == length, let more = try await iterator.next() { total += more.count }
                    if let length, total > length {
                        throw NetworkError.bodyUnreadable(
                            "expected \(length) bytes, but the asynchronous sequence supplied more")
                    }
                    guard !chunk.isEmpty else { continue }
                    guard try await SequenceBodyReader.offer(Data(chunk), to: state) else { return }
                }
                end = .success(())
            } catch { end = .failure(SequenceBodyReader.fault(error)) }
            let wake = state.withLock { state in
                state.end = end
                return state.wake
            }
            wake()
        }
    }

    deinit { task.cancel() }

    /// Returns an error of the sequence as an error of the body. If the sequence forwards the response of another call,
    /// the error of that call must not be mistaken for an error of this call.
    private static func fault(_ error: any Error) -> NetworkError {
        guard let known = error as? NetworkError else { return .bodyUnreadable(error) }
        guard known.kind != .bodyUnreadable || known.request != nil else { return known }
        return NetworkError(
            .bodyUnreadable, reason: "the request's body cannot be read: \(known)", underlying: known.leavingCall())
    }

    /// Waits until a chunk has been sent.
    ///
    /// - Returns: Whether another chunk is needed.
    private static func offer(_ chunk: Data, to state: Locked<State>) async throws -> Bool {
        let isTaken = Settlement<Bool>()
        let wake: (@Sendable () -> Void)? = state.withLock { state in
            guard !state.isClosed else { return nil }
            (state.chunk, state.isTaken) = (chunk, isTaken)
            return state.wake
        }
        guard let wake else { return false }
        wake()
        return try await isTaken.value()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> HTTPBody.ReadResult {
        typealias Step = (result: Result<HTTPBody.ReadResult, any Error>, isTaken: Settlement<Bool>?)
        let (result, isTaken) = state.withLock { state -> Step in
            guard !state.chunk.isEmpty else {
                return (state.end.map { $0.map { HTTPBody.ReadResult.end } } ?? .success(.notYet), nil)
            }
            let count = min(buffer.count, state.chunk.count)
            state.chunk.copyBytes(to: buffer, count: count)
            state.chunk = state.chunk.dropFirst(count)
            guard state.chunk.isEmpty else { return (.success(.bytes(count)), nil) }
            defer { state.isTaken = nil }
            return (.success(.bytes(count)), state.isTaken)
        }
        isTaken?.settle(.success(true))
        return try result.get()
    }

    func onReady(_ wake: @escaping @Sendable () -> Void) {
        let isReady = state.withLock { state in
            state.wake = wake
            return !state.chunk.isEmpty || state.end != nil
        }
        if isReady { wake() }
    }

    func close() {
        let isTaken = state.withLock { state in
            state.isClosed = true
            state.wake = {}
            return state.isTaken
        }
        task.cancel()
        isTaken?.settle(.success(false))
    }
}

/// The chunks of an input stream.
private struct InputStreamChunks: AsyncSequence, Sendable {
    let open: @Sendable () throws -> InputStream?

    func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(open)) }

    struct Iterator: AsyncIteratorProtocol {
        let reader: Reader

        mutating func next() async throws -> Data? { try await reader.next() }
    }

    /// Reads the stream on a queue of its own, because a read may block the thread.
    final class Reader: @unchecked Sendable {  // because only the queue uses the stream
        private let open: @Sendable () throws -> InputStream?
        private let queue = DispatchQueue(label: "networking.input-stream")
        private var stream: InputStream?

        init(_ open: @escaping @Sendable () throws -> InputStream?) { self.open = open }

        deinit { stream?.close() }

        func next() async throws -> Data? {
            let chunk = Settlement<Data?>()
            queue.async { [self] in chunk.settle(Result { try read() }) }
            return try await chunk.value()
        }

        private func read() throws -> Data? {
            let stream = try opened()
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = stream.read(&bytes, maxLength: bytes.count)
            // On Linux, reading `streamError` may end the process.
            guard count >= 0 else { throw NetworkError.bodyUnreadable("the input stream cannot be read") }
            return count == 0 ? nil : Data(bytes[..<count])
        }

        private func opened() throws -> InputStream {
            if let stream { return stream }
            guard let stream = try open() else {
                throw NetworkError.bodyUnreadable("expected an input stream, but the closure `open` returned nil")
            }
            stream.open()
            self.stream = stream
            return stream
        }
    }
}
