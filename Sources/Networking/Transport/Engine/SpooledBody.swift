import Foundation

/// A request's body that was read to its end, for an engine that cannot read it piece by piece. A short body is in
/// memory. A long body is in a temporary file.
enum SpooledBody: Sendable {
    case data(Data)
    case file(TemporaryFile)

    /// The bytes of the body. A file is mapped into memory, because Foundation's own way of sending files is not
    /// reliable on Linux (row L42 of <doc:URLSessionOnLinux>).
    var bytes: Data {
        get throws {
            switch self {
            case .data(let data): data
            case .file(let file): try Data(contentsOf: file.url, options: .alwaysMapped)
            }
        }
    }

    /// Reads a body to its end. A body that is already in memory is used as it is.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - limit: The largest number of bytes to hold in memory. A longer body goes into a temporary file.
    ///   - idle: The longest time without new bytes. After that, the error is of kind
    ///     ``NetworkError/Kind/idleTimedOut``.
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
