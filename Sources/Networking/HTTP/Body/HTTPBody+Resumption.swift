import Foundation

extension HTTPBody {
    /// How an upload resumes after its connection has been lost or the app's process has ended.
    ///
    /// ```swift
    /// var body: HTTPBody { .file(film).resumable(.tus) }
    /// ```
    public struct Resumption: Hashable, Sendable {
        /// The maximum number of bytes of the file that one request sends; nil to send all missing bytes in one
        /// request.
        var partSize: Int?
        /// Whether the first bytes are sent with the request that creates the upload, if the server allows it.
        var sendsFirstPart = false
        /// The properties of the file that are sent to the server.
        var metadata: [String: String] = [:]
        /// Whether the file is sent in one plain request if the server does not support tus.
        var allowsPlain = false

        /// The protocol [tus 1.0](https://tus.io/protocols/resumable-upload). One request sends all missing bytes.
        public static let tus = Resumption()

        /// The protocol [tus 1.0](https://tus.io/protocols/resumable-upload).
        ///
        /// - Parameters:
        ///   - partSize: The maximum number of bytes of the file that one request sends, at least 1. Set it if a server
        ///     or proxy limits the size of a request. If the server offers checksums, each part is sent with its SHA-1
        ///     sum. Default: nil, no limit.
        ///   - sendsFirstPart: Whether the first part is sent with the request that creates the upload, if the server
        ///     offers it. This saves a round trip. Default: false.
        ///   - metadata: The properties of the file that are sent to the server (`Upload-Metadata`), such as its name.
        ///     The name of a property consists of ASCII characters other than space and comma.
        ///   - allowsPlain: Whether the file is sent with the endpoint's own request if the server's response to
        ///     OPTIONS does not name tus. Such an upload cannot be resumed. Default: false; a tus upload is then
        ///     created even if the response does not name tus, because gateways often respond to OPTIONS themselves. If
        ///     the server does not support tus, it then receives the request that creates the upload, but not the file,
        ///     and the call ends with ``NetworkError/Kind/uploadRefused``.
        public static func tus(
            partSize: Int? = nil, sendsFirstPart: Bool = false, metadata: [String: String] = [:],
            allowsPlain: Bool = false
        ) -> Resumption {
            Resumption(
                partSize: partSize, sendsFirstPart: sendsFirstPart, metadata: metadata, allowsPlain: allowsPlain)
        }
    }

    /// Returns the body as an upload that can resume after an interruption. The upload resumes in the next attempt, the
    /// next call or the next process, at the position that the server reports. The body must be a file, and the request
    /// method must be POST.
    ///
    /// A small hidden file in the same folder, such as `.film.mp4.upload`, stores the URL of the upload, with its
    /// query. Only its owner may read the hidden file. The file is removed when the upload is complete. The folder must
    /// be writable. If the size, the modification date or the identity of the file changes before the upload is
    /// complete, the call ends with ``NetworkError/Kind/bodyUnreadable``. By then, the server may have received some of
    /// the new bytes.
    ///
    /// - Parameter resumption: How the upload resumes: ``Resumption/tus``.
    public func resumable(_ resumption: Resumption) -> HTTPBody {
        .deferred(headers: headers) { [self] encoder in
            let body = try encoded(by: encoder)
            guard case .source(var source) = body.content, case .file(let url)? = source.pieces.first,
                source.pieces.count == 1
            else {
                throw NetworkError(
                    .invalidRequest,
                    reason: "resumable upload: expected a body that `HTTPBody.file` created, found another body")
            }
            try resumption.check()
            source.upload = ResumableFile(url: url, identity: try FileIdentity(url), resumption: resumption)
            return HTTPBody(.source(source), headers: body.headers)
        }
    }

    /// The file to upload, and how to resume its upload; nil if the body is not a resumable upload, or is not yet
    /// encoded.
    var upload: ResumableFile? { source?.upload }

    /// Whether the body is a resumable upload. The body must already be encoded.
    package var isResumable: Bool { upload != nil }

    /// The position of the body's first byte in the whole file, and the length of the file; nil if the body is not a
    /// part.
    var part: (start: Int, of: Int)? { source?.part }

    /// Returns a body with some bytes of a file. These bytes must not change before they have been read.
    ///
    /// - Parameter beforeEnd: Called on the queue that reads the file, before the last bytes can be sent.
    static func bytes(
        _ range: Range<Int>, of file: ResumableFile, beforeEnd: (@Sendable () -> Void)? = nil
    ) -> HTTPBody {
        HTTPBody(
            .source(
                Source(
                    // A piece of the kind `file` would mean the whole file.
                    length: range.count, isReplayable: true, pieces: [.unknown],
                    part: (range.lowerBound, file.identity.size)
                ) {
                    let handle = try regularFile(file.url)
                    try file.requireUnchanged(handle.fileDescriptor)
                    try handle.seek(toOffset: UInt64(range.lowerBound))
                    return FileBodyReader(handle, length: range.count) { isEnd in
                        try file.requireUnchanged(handle.fileDescriptor)
                        if isEnd { beforeEnd?() }
                    }
                }))
    }
}

extension HTTPBody.Resumption {
    /// - Throws: ``NetworkError`` if a value cannot be sent.
    func check() throws {
        try NetworkError.require(
            partSize ?? 1 > 0, "upload: expected a `partSize` of at least 1 byte, found \(partSize ?? 0)")
        for name in metadata.keys {
            let isName = !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ",") }
            try NetworkError.require(
                isName, "upload: expected a metadata name without spaces and commas, found \"\(name.onOneLine)\"")
        }
    }

    /// The value of `Upload-Metadata`; nil for none.
    var metadataField: String? {
        guard !metadata.isEmpty else { return nil }
        return metadata.sorted { $0.key < $1.key }
            .map { $0.value.isEmpty ? $0.key : "\($0.key) \(Data($0.value.utf8).base64EncodedString())" }
            .joined(separator: ",")
    }
}

/// A file to upload, in the state that it had when the call began.
struct ResumableFile: Hashable, Sendable {
    let url: URL
    let identity: FileIdentity
    let resumption: HTTPBody.Resumption

    /// - Throws: ``NetworkError/Kind/bodyUnreadable`` if an open file is a different file, or has changed since the
    ///   call began.
    func requireUnchanged(_ descriptor: Int32) throws {
        guard try FileIdentity(descriptor, url) == identity else {
            throw hasChanged
        }
    }

    var hasChanged: NetworkError {
        .bodyUnreadable(
            "the file \(url.lastPathComponent) has changed since its upload began; discard the upload to begin again")
    }
}

/// Values that identify the state of a file. They change if the file is written to, or if another file replaces it.
struct FileIdentity: Hashable, Codable, Sendable {
    let number: UInt64
    let size: Int
    let seconds, nanoseconds: Int

    /// - Throws: ``NetworkError/Kind/bodyUnreadable``.
    init(_ url: URL) throws {
        _ = try HTTPBody.fileLength(url)
        var status = stat()
        guard stat(url.path, &status) == 0 else {
            throw HTTPBody.unreadable(url, FileLock.fault(url.path, reading: true))
        }
        self.init(status)
    }

    init(_ descriptor: Int32, _ url: URL) throws {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw HTTPBody.unreadable(url, FileLock.fault(url.path, reading: true))
        }
        self.init(status)
    }

    private init(_ status: stat) {
        number = UInt64(status.st_ino)
        size = Int(status.st_size)
        (seconds, nanoseconds) = (status.modificationTime.tv_sec, status.modificationTime.tv_nsec)
    }
}
