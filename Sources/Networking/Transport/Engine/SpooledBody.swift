import Foundation

/// A request's body, read to its end for an engine that cannot pull: in memory, or in a file where it is long.
enum SpooledBody: Sendable {
    case data(Data)
    case file(TemporaryFile)

    /// The bytes; those of a file are mapped, since Foundation's own way of sending files is not to be trusted on
    /// Linux (L42).
    var bytes: Data {
        get throws {
            switch self {
            case .data(let data): data
            case .file(let file): try Data(contentsOf: file.url, options: .alwaysMapped)
            }
        }
    }

    /// Reads a body; one that is in memory already stays there.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - limit: How many bytes are kept in memory.
    ///   - idle: How long it may have nothing; longer is a ``NetworkError/Kind/idleTimedOut``.
    init(_ body: HTTPBody, inMemory limit: Int, idle: Duration) async throws {
        if let data = body.data {
            self = .data(data)
            return
        }
        let reader = try body.open()
        defer { reader.close() }
        var collected = Data()
        var file: TemporaryFile?
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var bytesRead = 0
        while let count = try await reader.next(into: &buffer, idle: idle) {
            bytesRead += count
            if let length = body.length, bytesRead > length { throw NetworkError.bodyTooLong(length) }
            collected.append(contentsOf: buffer[..<count])
            guard collected.count > limit || file != nil else { continue }
            file = try file ?? TemporaryFile()
            try file?.append(collected)
            collected = Data()
        }
        if let length = body.length, bytesRead < length { throw NetworkError.bodyTooShort(bytesRead, of: length) }
        self = file.map { .file($0) } ?? .data(collected)
    }
}
