public import Foundation

/// The body of a request: its content, its length, and whether it can be sent twice.
///
/// A body is a description of what to send. Its values are encoded once per call, when the endpoint becomes a request.
/// The body is opened each time it is sent, so that a retry or a redirect sends it completely.
///
/// ```swift
/// var body: HTTPBody {
///     switch self {
///     case .fetch: .empty
///     case .rename(let name): .json(["name": name])
///     case .note(let text): .string(text)
///     }
/// }
/// ```
public struct HTTPBody: Sendable {
    enum Content: Sendable {
        case empty
        case data(Data)
        case unencoded(@Sendable (any BodyEncoder) throws -> HTTPBody)
        case form(MultipartForm)
        /// Stored behind a reference, so that a body without a source stays small. Most bodies have no source.
        indirect case source(Source)
    }

    /// Bytes that a reader supplies while they are sent.
    struct Source: Sendable {
        var length: Int?
        var isReplayable: Bool
        var pieces: [Piece]
        /// If the body is a part of a file: the position of the body's first byte in the file, and the length of the
        /// file; otherwise nil.
        var part: (start: Int, of: Int)?
        /// The file to upload, and how to resume its upload; nil if the body is not a resumable upload.
        var upload: ResumableFile?
        var open: @Sendable () throws -> any HTTPBody.Reader
    }

    /// The fields that describe the body, such as `Content-Type`. Each field is added to the request, unless the
    /// request already has a field of that name.
    public let headers: HTTPHeaders
    let content: Content

    /// The source of the bytes, if a reader supplies them.
    var source: Source? { if case .source(let source) = content { source } else { nil } }

    init(_ content: Content, headers: HTTPHeaders = []) { (self.content, self.headers) = (content, headers) }

    /// No body.
    public static let empty = HTTPBody(.empty, headers: [])

    /// Creates a body of bytes, which are sent unchanged.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - contentType: The media type of the bytes; nil for no `Content-Type`.
    public static func data(_ data: Data, contentType: MediaType? = .octetStream) -> HTTPBody {
        HTTPBody(data.isEmpty && contentType == nil ? .empty : .data(data), headers: described(by: contentType))
    }

    /// Creates a body of text. If the encoding cannot represent a character of the text, the call ends with
    /// ``NetworkError/Kind/bodyNotEncodable``.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - encoding: The character encoding. Default: UTF-8.
    ///   - contentType: The media type. Default: `text/plain` with the encoding's charset.
    public static func string(
        _ text: String, encoding: String.Encoding = .utf8, contentType: MediaType? = nil
    ) -> HTTPBody {
        let type = contentType ?? CharacterSetName(encoding).map { MediaType.plainText.charset($0.name) } ?? .plainText
        if encoding == .utf8 { return .data(Data(text.utf8), contentType: type) }
        return .encoded(headers: described(by: type)) {
            guard let data = text.data(using: encoding) else { throw TextNotEncodable(encoding: encoding) }
            return data
        }
    }

    /// Creates a body of the bytes that `encode` returns. Use this method for a custom encoding.
    ///
    /// - Parameters:
    ///   - headers: The fields that describe the encoded bytes.
    ///   - encode: Returns the bytes. The closure runs once per call. If the closure throws a ``NetworkError``, the
    ///     call ends with that error. Any other error becomes the underlying error of
    ///     ``NetworkError/Kind/bodyNotEncodable``.
    public static func encoded(headers: HTTPHeaders, _ encode: @escaping @Sendable () throws -> Data) -> HTTPBody {
        HTTPBody(.unencoded { _ in HTTPBody(.data(try encode())) }, headers: headers)
    }

    /// Returns a body that `make` creates with the call's encoder. `make` runs once per call, when the body is encoded.
    ///
    /// - Parameter headers: The fields that describe the body. If empty, the fields of the created body are used.
    static func deferred(
        headers: HTTPHeaders, _ make: @escaping @Sendable (any BodyEncoder) throws -> HTTPBody
    ) -> HTTPBody {
        HTTPBody(.unencoded(make), headers: headers)
    }

    /// Returns the body with `fields` after the other parts; nil unless the body is a multipart form.
    func appending(_ fields: URLQuery) -> HTTPBody? {
        guard case .form(var form) = content else { return nil }
        if let fault = fields.fault { return .encoded(headers: []) { throw fault.error } }
        form.parts += fields.parts
        return HTTPBody(.form(form), headers: headers)
    }

    /// Creates a body of the bytes of a file, which are read while they are sent. The length of the file is read when
    /// the call begins. If the file cannot be read, the call ends with ``NetworkError/Kind/bodyUnreadable`` before
    /// anything is sent. If the file becomes shorter during the call, the call ends with the same error.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - contentType: The media type. Default: the media type of the file name's extension.
    public static func file(_ url: URL, contentType: MediaType? = nil) -> HTTPBody {
        let type = contentType ?? MediaType(fileExtension: url.pathExtension) ?? .octetStream
        return .deferred(headers: described(by: type)) { _ in
            let length = try fileLength(url)
            let open: @Sendable () throws -> any HTTPBody.Reader = {
                FileBodyReader(try regularFile(url), length: length)
            }
            return HTTPBody(.source(Source(length: length, isReplayable: true, pieces: [.file(url)], open: open)))
        }
    }

    /// Creates a body whose bytes a reader supplies while they are sent.
    ///
    /// - Parameters:
    ///   - length: The number of bytes; nil if it is not known.
    ///   - isReplayable: Whether `open` can be called again for a retry or a redirect.
    ///   - contentType: The media type; nil for no `Content-Type`.
    ///   - open: Opens the body. The closure runs each time the body is sent: once per attempt, and again if a redirect
    ///     or the engine repeats the body.
    public static func source(
        length: Int?, isReplayable: Bool, contentType: MediaType? = .octetStream,
        open: @escaping @Sendable () throws -> any HTTPBody.Reader
    ) -> HTTPBody {
        HTTPBody(
            .source(Source(length: length, isReplayable: isReplayable, pieces: [.unknown], open: open)),
            headers: described(by: contentType))
    }

    /// Whether there is no body. A body of zero bytes that has a content type is not empty.
    public var isEmpty: Bool {
        if case .empty = content { true } else { false }
    }

    /// The number of bytes; nil if it is not known, or if the values of the body have not been encoded yet.
    public var length: Int? {
        switch content {
        case .empty: 0
        case .data(let data): data.count
        case .unencoded, .form: nil
        case .source(let source): source.length
        }
    }

    /// Whether the body can be sent a second time.
    public var isReplayable: Bool {
        if case .source(let source) = content { source.isReplayable } else { true }
    }

    /// The bytes, if they are in memory.
    public var data: Data? {
        switch content {
        case .empty: Data()
        case .data(let data): data
        case .unencoded, .form, .source: nil
        }
    }

    /// The origin of some bytes of a body.
    enum Piece: Sendable {
        case data(Data)
        case file(URL)
        /// Bytes of a reader, which are known only while they are sent.
        case unknown
    }

    /// The origins of the body's bytes, in the order of the bytes.
    var pieces: [Piece] {
        switch content {
        case .empty: []
        case .data(let data): [.data(data)]
        case .unencoded, .form: [.unknown]
        case .source(let source): source.pieces
        }
    }

    /// Whether at least some bytes of the body are read from a file.
    package var isOfFile: Bool { pieces.contains { if case .file = $0 { true } else { false } } }

    /// Whether the body's values have been encoded already, or need no encoding.
    var isEncoded: Bool {
        switch content {
        case .unencoded, .form: false
        case .empty, .data, .source: true
        }
    }

    /// Returns the body with its values encoded.
    ///
    /// - Parameter encoder: The encoder for values, unless the body has its own encoder.
    /// - Throws: A ``NetworkError``. Any other error is wrapped in a ``NetworkError`` of kind
    ///   ``NetworkError/Kind/bodyNotEncodable``.
    package func encoded(by encoder: any BodyEncoder = JSONEncoder()) throws -> HTTPBody {
        do {
            switch content {
            case .unencoded(let encode):
                let body = try encode(encoder)
                return HTTPBody(body.content, headers: headers.isEmpty ? body.headers : headers)
            case .form(let form): return HTTPBody(try form.body(encoder).content, headers: headers)
            case .empty, .data, .source: return self
            }
        } catch let error as NetworkError {
            throw error
        } catch {
            throw NetworkError(.bodyNotEncodable, reason: HTTPBody.describe(error, of: "the body"), underlying: error)
        }
    }

    /// Returns the same body with other fields that describe it.
    package func described(by headers: HTTPHeaders) -> HTTPBody { HTTPBody(content, headers: headers) }

    /// Opens the body for one attempt.
    ///
    /// - Throws: The error of the encoding or of the source.
    package func open() throws -> any HTTPBody.Reader {
        switch content {
        case .empty: DataBodyReader(Data())
        case .data(let data): DataBodyReader(data)
        case .unencoded, .form: try encoded().open()
        case .source(let source): try source.open()
        }
    }

    private static func described(by contentType: MediaType?) -> HTTPHeaders {
        contentType.map { [.contentType($0)] } ?? []
    }
}

extension HTTPBody: RedactedReflectable {
    /// The length of the body, never its content: `27 bytes`.
    var redactedDescription: String { length.map { "\($0) bytes" } ?? "a body of unknown length" }

    var reflectedMembers: KeyValuePairs<String, Any> { ["body": description, "headers": headers] }
}
