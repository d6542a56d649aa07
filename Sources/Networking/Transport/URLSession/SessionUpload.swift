import Foundation

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

    /// Creates the only form that is reliable on Linux (rows L17, L27 and L42 of <doc:URLSessionOnLinux>).
    init(_ body: SpooledBody) throws {
        self = .data(try body.bytes)
    }
}
