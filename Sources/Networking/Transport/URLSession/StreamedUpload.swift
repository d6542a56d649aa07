import Foundation

/// An upload that writes a request's body into a stream while the stream has room. Used on one queue.
struct StreamedUpload: ~Copyable {
    /// The progress of an upload.
    enum Status: Equatable {
        /// The stream has no room, or the body has no bytes yet. ``run(_:)`` must be called again.
        case waiting
        /// The whole body has been written.
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
    /// - Parameter write: A closure that writes bytes and returns how many it has written; 0 if the stream has no room.
    /// - Throws: The body's error, which ends the upload.
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

    /// Closes the body. Nothing more is read from it.
    mutating func close() {
        body.close()
    }
}

/// The form in which `URLSession` receives the body of a request.
enum SessionUpload: Sendable {
    /// Bytes in memory, or a file that is mapped into memory.
    case data(Data)
    /// A file that the session reads during the upload.
    case file(URL)
    /// A stream. The session requests a new stream each time it begins to send.
    case stream

    /// Creates the form in which a body takes the least memory on Apple platforms.
    init(streaming body: HTTPBody) {
        if let data = body.data {
            self = .data(data)
        } else if case .file(let file)? = body.pieces.first, body.pieces.count == 1 {
            self = .file(file)
        } else {
            self = .stream
        }
    }
}
