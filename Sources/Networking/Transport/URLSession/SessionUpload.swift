import Foundation

/// How `URLSession` is given the body of a request.
enum SessionUpload: Sendable {
    /// In memory, or mapped into it.
    case data(Data)
    /// As a file, which the session reads while it sends it.
    case file(URL)
    /// As a stream, of which the session asks for a new one each time that it begins to send.
    case stream

    /// The way in which a body takes the least memory on Apple platforms.
    init(streaming body: HTTPBody) {
        if let data = body.data {
            self = .data(data)
        } else if case .file(let file)? = body.pieces.first, body.pieces.count == 1 {
            self = .file(file)
        } else {
            self = .stream
        }
    }

    /// The only way that is to be trusted on Linux (LINUX-FOUNDATION L17, L27, L42).
    init(_ body: SpooledBody) throws {
        self = .data(try body.bytes)
    }
}
