import Foundation

extension HTTPBody {
    /// Returns the body with its bytes in memory, so that ``data`` is not nil. The fields that describe the body stay
    /// the same.
    ///
    /// Use this method in an adapter that signs requests, or in a test that inspects a multipart form. Put the returned
    /// body into the request, because the original body may be readable only once.
    ///
    /// ```swift
    /// func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) async throws {
    ///     request.body = try await request.body.collected(upTo: 1 << 20)
    ///     request.headers["X-Signature"] = sign(request.body.data ?? Data(), request.allHeaders)
    /// }
    /// ```
    ///
    /// In an adapter, the values of the body are already encoded. If you call this method on a body whose values are
    /// not encoded yet, it encodes them with Foundation's default settings.
    ///
    /// - Parameter limit: The maximum number of bytes to read into memory. Default: 1 MiB.
    /// - Throws: ``NetworkError/Kind/bodyUnreadable`` if the body has more bytes than `limit`, or if its source fails.
    ///   ``NetworkError/Kind/bodyNotEncodable`` if the values of the body cannot be encoded.
    public func collected(upTo limit: Int = 1 << 20) async throws -> HTTPBody {
        let body = try encoded()
        guard !body.isEmpty else { return body }
        if let length = body.length, length > limit { throw HTTPBody.tooLarge(limit) }
        guard body.data == nil else { return body }
        let data: Data
        do { data = try await body.read(upTo: limit) } catch let error as Interruption {
            throw NetworkError.wrapping(error)
        } catch { throw NetworkError.bodyUnreadable(error) }
        return HTTPBody(.data(data), headers: headers)
    }

    private func read(upTo limit: Int) async throws -> Data {
        var data = Data()
        try await forEachPiece { piece in
            data.append(contentsOf: piece)
            guard data.count <= limit else { throw HTTPBody.tooLarge(limit) }
        }
        return data
    }

    /// Reads the body to its end, and passes its bytes to `use`, piece by piece.
    ///
    /// - Parameters:
    ///   - idle: The longest time to wait for the next bytes; nil for no limit.
    ///   - use: A closure that uses the next bytes.
    /// - Throws: The error of the source or of the closure; an error if the number of bytes differs from ``length``.
    package func forEachPiece(idle: Duration? = nil, _ use: (ArraySlice<UInt8>) throws -> Void) async throws {
        let reader = try open()
        defer { reader.close() }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var bytesRead = 0
        while let count = try await reader.next(into: &buffer, idle: idle) {
            bytesRead += count
            if let length, bytesRead > length { throw NetworkError.bodyTooLong(length) }
            try use(buffer[..<count])
        }
        if let length, bytesRead < length { throw NetworkError.bodyTooShort(bytesRead, of: length) }
    }

    private static func tooLarge(_ limit: Int) -> NetworkError {
        .bodyUnreadable("expected at most \(limit) bytes to collect, found more")
    }
}

extension HTTPBody.Reader {
    /// Reads the next bytes into the buffer. If no bytes are available yet, waits for them.
    ///
    /// - Parameter idle: The longest time to wait for the next bytes. If nil, only the timeout of the call limits the
    ///   wait.
    /// - Returns: The number of bytes; nil at the end.
    func next(into buffer: inout [UInt8], idle: Duration? = nil) async throws -> Int? {
        while true {
            let ready = Settlement<Void>()
            onReady { ready.settle(.success(())) }
            switch try buffer.withUnsafeMutableBytes({ try readNext(into: $0) }) {
            case .bytes(let count): return count
            case .end: return nil
            case .notYet:
                try await ready.value(within: idle) { idle in
                    let reason = "the source of the request's body supplied no bytes for \(idle.shortText)"
                    return .failure(NetworkError(.idleTimedOut, reason: reason))
                }
            }
        }
    }
}

extension NetworkError {
    /// Returns the error for a request body that cannot be read, with the fault in words.
    static func bodyUnreadable(_ fault: String, underlying: (any Error)? = nil) -> NetworkError {
        NetworkError(.bodyUnreadable, reason: "the request's body: \(fault)", underlying: underlying)
    }

    /// Returns the error for a body that cannot be encoded, with the fault in words.
    static func bodyNotEncodable(_ fault: String) -> NetworkError {
        NetworkError(.bodyNotEncodable, reason: "the body cannot be encoded: \(fault)")
    }

    /// Returns the error for a request body with more bytes than its `length`. Without this error, the bytes after
    /// `length` would be lost.
    static func bodyTooLong(_ length: Int) -> NetworkError {
        .bodyUnreadable("expected \(length) bytes, found more")
    }

    /// Returns the error for a body with fewer bytes than its `length`. Such a request cannot be completed.
    static func bodyTooShort(_ count: Int, of length: Int) -> NetworkError {
        .bodyUnreadable("expected \(length) bytes, found \(count)")
    }
}

/// Texts and errors that say why a body cannot be sent.
extension HTTPBody {
    /// Returns a text that describes an encoding error. The text contains the path of the value that cannot be encoded,
    /// but never the value itself.
    static func describe(_ error: any Error, of part: String) -> String {
        if let error = error as? TextNotEncodable { return "\(part) cannot be encoded: \(error)" }
        guard case EncodingError.invalidValue(let value, let context) = error else {
            return "\(part) cannot be encoded: \(type(of: error))"
        }
        let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
        let place = path.isEmpty ? "its value" : "\"\(path)\""
        let isFinite = (value as? Double)?.isFinite ?? (value as? Float)?.isFinite ?? true
        let fault = isFinite ? "of type \(type(of: value)), which cannot be encoded" : "not a finite number"
        return "\(part) cannot be encoded: \(place) is \(fault)"
    }

    /// Returns the size of a file in bytes. A symbolic link is followed.
    static func fileLength(_ url: URL) throws -> Int {
        guard url.isFileURL else {
            throw NetworkError.bodyUnreadable("expected a file URL, found \(url.withoutSecrets)")
        }
        var status = stat()
        guard stat(url.path, &status) == 0, access(url.path, R_OK) == 0 else {
            throw unreadable(url, FileLock.fault(url.path, reading: true))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw unreadable(url, nil) }
        return Int(status.st_size)
    }

    /// Opens a file only if it is a regular file. The file may have been replaced since ``fileLength(_:)`` was called,
    /// for example by a named pipe, and opening a pipe could block an engine's thread forever.
    static func regularFile(_ url: URL) throws -> FileHandle {
        let file = systemOpen(url.path)
        var status = stat()
        guard file >= 0 else { throw unreadable(url, POSIXErrorCode(rawValue: errno).map { POSIXError($0) }) }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw unreadable(url, nil) }
        return handle
    }

    static func unreadable(_ url: URL, _ error: (any Error)?) -> NetworkError {
        let isThere = FileManager.default.fileExists(atPath: url.path)
        let fault = isThere ? "cannot be read" : "does not exist"
        return .bodyUnreadable("the file \(url.lastPathComponent) \(fault)", underlying: error)
    }
}

// The system function has the same name as a method of the body.
private func systemOpen(_ path: String) -> Int32 { open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }

/// The error that is thrown if a text contains a character that the encoding cannot represent.
struct TextNotEncodable: Error, CustomStringConvertible {
    let encoding: String.Encoding
    var description: String { "the text contains a character that \(encoding) cannot represent" }
}
