/// A request's body as an engine reads it. The engine may read into buffers of any size. The length of the body is
/// checked. After the body is reopened, it is read from the beginning. Only one thread or queue uses this value.
struct OutgoingBody: ~Copyable {
    private let request: HTTPRequest
    private var reader: (any HTTPBody.Reader)?
    private var staged: StagedBytes?
    /// The number of bytes read since the body was opened.
    private(set) var bytesRead = 0

    init(of request: HTTPRequest) {
        self.request = request
    }

    /// Whether the body is open. An empty body is never open.
    var isOpen: Bool { reader != nil }

    /// Opens the body, if there are bytes to send.
    ///
    /// - Parameter onReady: See ``HTTPBody/Reader/onReady(_:)``.
    mutating func open(onReady: @escaping @Sendable () -> Void) throws(NetworkError) {
        guard !request.body.isEmpty else { return }
        do { reader = try request.openBody() } catch { throw NetworkError.bodyUnreadable(error) }
        reader?.onReady(onReady)
    }

    /// Closes the body. Nothing more is read until it is opened again.
    mutating func close() {
        reader?.close()
        reader = nil
        staged = nil
        bytesRead = 0
    }

    /// Reads the next bytes into a buffer of any size.
    ///
    /// - Throws: ``NetworkError`` if the body is longer or shorter than its declared length.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(NetworkError) -> HTTPBody.ReadResult {
        guard let reader else { return .end }
        if let count = staged?.take(into: buffer) { return .bytes(count) }
        // Readers may rely on room for 4,096 bytes, but engines sometimes have room for a few bytes only.
        guard buffer.count < StagedBytes.smallest else { return try read(into: buffer, from: reader) }
        let staged = staged ?? StagedBytes()
        self.staged = staged
        let result = try read(into: staged.buffer, from: reader)
        guard case .bytes(let count) = result else { return result }
        staged.fill(count)
        return staged.take(into: buffer).map { .bytes($0) } ?? .end
    }

    private mutating func read(
        into buffer: UnsafeMutableRawBufferPointer, from reader: any HTTPBody.Reader
    ) throws(NetworkError) -> HTTPBody.ReadResult {
        let result = try reader.readNext(into: buffer)
        if case .bytes(let count) = result { bytesRead += count }
        guard let length = request.body.length else { return result }
        switch result {
        case .bytes:
            if bytesRead > length { throw .bodyTooLong(length) }
            if bytesRead == length { try checkEnd(of: reader, after: length) }
        case .end:
            if bytesRead < length { throw .bodyTooShort(bytesRead, of: length) }
        case .notYet:
            break
        }
        return result
    }

    /// Checks that the body has no bytes beyond its declared length. The engine would cut them off without an error.
    private func checkEnd(of reader: any HTTPBody.Reader, after length: Int) throws(NetworkError) {
        // The buffer is as large as an engine's buffer, because a reader may rely on a minimum size.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { buffer.deallocate() }
        if case .bytes = try reader.readNext(into: buffer) { throw .bodyTooLong(length) }
    }
}

/// Bytes of a body that were read before the engine had room for them.
private final class StagedBytes {
    /// The size of the smallest buffer that is passed to a reader, in bytes.
    static let smallest = 4_096

    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: smallest, alignment: 16)
    private var rest = 0..<0

    deinit {
        buffer.deallocate()
    }

    /// Records that the given number of bytes was read into the buffer.
    func fill(_ count: Int) {
        rest = 0..<count
    }

    /// Moves bytes into another buffer.
    ///
    /// - Returns: The number of bytes moved; nil if there are none.
    func take(into target: UnsafeMutableRawBufferPointer) -> Int? {
        guard !rest.isEmpty else { return nil }
        let count = min(rest.count, target.count)
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[rest.prefix(count)]))
        rest = rest.dropFirst(count)
        return count
    }
}
