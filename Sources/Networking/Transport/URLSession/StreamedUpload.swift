/// Moves a request's body into a stream that has room for some bytes at a time. Used on one queue.
struct StreamedUpload: ~Copyable {
    /// The progress of an upload.
    enum Status: Equatable {
        /// The stream has no room, or the body has no bytes yet: to be called again.
        case waiting
        /// Everything has been written.
        case finished
    }

    private var body: OutgoingBody
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    /// The bytes of ``buffer`` that the stream has not taken.
    private var pending = 0..<0

    /// Opens the body.
    ///
    /// - Parameter onReady: See ``HTTPBody/Reader/onReady(_:)``.
    init(_ request: HTTPRequest, onReady: @escaping @Sendable () -> Void) throws(NetworkError) {
        body = OutgoingBody(of: request)
        try body.open(onReady: onReady)
    }

    deinit {
        buffer.deallocate()
    }

    /// Writes until the stream has no room, or the body has no bytes.
    ///
    /// - Parameter write: Writes bytes and returns how many: 0 if the stream has no room.
    /// - Throws: The body's error; the upload is over.
    mutating func run(_ write: (UnsafeRawBufferPointer) -> Int) throws(NetworkError) -> Status {
        while true {
            while !pending.isEmpty {
                let count = write(UnsafeRawBufferPointer(rebasing: buffer[pending]))
                guard count > 0 else { return .waiting }
                pending = pending.dropFirst(count)
            }
            switch try body.read(into: buffer) {
            case .bytes(let count): pending = 0..<count
            case .notYet: return .waiting
            case .end: return .finished
            }
        }
    }

    /// Nothing more is read.
    mutating func close() {
        body.close()
    }
}
