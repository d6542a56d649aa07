public import Foundation

/// The body of a request: what to send, how long it is, and whether it can be sent twice.
///
/// A body is a description. Its values are encoded once a call, when the endpoint becomes a request, and it is opened
/// once an attempt, so that a retry sends it whole.
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
    private enum Content: Sendable {
        case empty
        case data(Data)
        case unencoded(@Sendable (JSONEncoder) throws -> HTTPBody)
        case form(MultipartForm)
        case source(length: Int?, isReplayable: Bool, pieces: [Piece], open: @Sendable () throws -> any HTTPBody.Reader)
    }

    /// The fields that describe the body, such as `Content-Type`. Each goes into the request where the user set none
    /// of its name.
    public let headers: HTTPHeaders
    private let content: Content

    private init(_ content: Content, headers: HTTPHeaders) {
        self.content = content
        self.headers = headers
    }

    /// No body.
    public static let empty = HTTPBody(.empty, headers: [])

    /// Bytes as they are.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - contentType: Their media type; nil says nothing about it.
    public static func data(_ data: Data, contentType: MediaType? = .octetStream) -> HTTPBody {
        HTTPBody(data.isEmpty && contentType == nil ? .empty : .data(data), headers: described(by: contentType))
    }

    /// Text. Where the encoding has no form for one of its characters, the call ends with
    /// ``NetworkError/Kind/bodyNotEncodable``.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - encoding: How characters become bytes.
    ///   - contentType: The media type, by default `text/plain` with the encoding's charset.
    public static func string(
        _ text: String, encoding: String.Encoding = .utf8, contentType: MediaType? = nil
    ) -> HTTPBody {
        let type = contentType ?? CharacterSetName(encoding).map { MediaType.plainText.charset($0.name) } ?? .plainText
        return encoding == .utf8
            ? .data(Data(text.utf8), contentType: type)
            : .encoded(headers: described(by: type)) {
                guard let data = text.data(using: encoding) else { throw TextNotEncodable(encoding: encoding) }
                return data
            }
    }

    /// Bytes that `encode` makes: the way in for an encoding of your own.
    ///
    /// - Parameters:
    ///   - headers: The fields that describe what it makes.
    ///   - encode: Runs once a call. What it throws becomes the cause of a ``NetworkError/Kind/bodyNotEncodable``.
    public static func encoded(headers: HTTPHeaders, _ encode: @escaping @Sendable () throws -> Data) -> HTTPBody {
        HTTPBody(.unencoded { _ in HTTPBody(.data(try encode()), headers: []) }, headers: headers)
    }

    /// A body that is made once a call, of what is there by then, with the call's encoder.
    static func deferred(
        headers: HTTPHeaders, _ make: @escaping @Sendable (JSONEncoder) throws -> HTTPBody
    ) -> HTTPBody {
        HTTPBody(.unencoded(make), headers: headers)
    }

    /// Bytes that were encoded before, with the fields that describe them.
    static func encodedData(_ data: Data, headers: HTTPHeaders) -> HTTPBody {
        HTTPBody(.data(data), headers: headers)
    }

    /// The parts of a form, which are encoded once a call.
    static func form(_ form: MultipartForm) -> HTTPBody {
        HTTPBody(.form(form), headers: [.contentType(form.mediaType)])
    }

    /// The body with fields after the other parts; nil unless it is a multipart form.
    func appending(_ fields: URLQuery) -> HTTPBody? {
        guard case .form(var form) = content else { return nil }
        if let fault = fields.fault { return .encoded(headers: []) { throw fault.error } }
        form.parts += fields.parts
        return HTTPBody(.form(form), headers: headers)
    }

    /// The bytes of a file, read while they are sent. Its length is taken when the call begins. Where the file cannot
    /// be read, the call ends with ``NetworkError/Kind/bodyUnreadable`` before anything is sent; so it does where the
    /// file becomes shorter meanwhile.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - contentType: The media type; by default the one that the name's extension stands for.
    public static func file(_ url: URL, contentType: MediaType? = nil) -> HTTPBody {
        let type = contentType ?? MediaType(fileExtension: url.pathExtension) ?? .octetStream
        return .deferred(headers: described(by: type)) { _ in
            let length = try fileLength(url)
            return .source(length: length, isReplayable: true, pieces: [.file(url)]) {
                do { return try FileBodyReader(url, length: length) } catch { throw unreadable(url, error) }
            }
        }
    }

    /// Bytes that a reader gives while they are sent.
    ///
    /// - Parameters:
    ///   - length: How many bytes there are; nil if that is not known.
    ///   - isReplayable: Whether `open` can be called again for a retry or redirect.
    ///   - contentType: The media type; nil says nothing about it.
    ///   - open: Runs once an attempt.
    public static func source(
        length: Int?, isReplayable: Bool, contentType: MediaType? = .octetStream,
        open: @escaping @Sendable () throws -> any HTTPBody.Reader
    ) -> HTTPBody {
        HTTPBody(
            .source(length: length, isReplayable: isReplayable, pieces: [.unknown], open: open),
            headers: described(by: contentType))
    }

    /// Bytes that a reader gives, of which it is known where they come from.
    static func source(
        length: Int?, isReplayable: Bool, pieces: [Piece], open: @escaping @Sendable () throws -> any HTTPBody.Reader
    ) -> HTTPBody {
        HTTPBody(.source(length: length, isReplayable: isReplayable, pieces: pieces, open: open), headers: [])
    }

    /// Whether there is nothing to send.
    public var isEmpty: Bool {
        if case .empty = content { true } else { false }
    }

    /// How many bytes there are; nil if that is not known, or not yet.
    public var length: Int? {
        switch content {
        case .empty: 0
        case .data(let data): data.count
        case .unencoded, .form: nil
        case .source(let length, _, _, _): length
        }
    }

    /// Whether the body can be sent a second time.
    public var isReplayable: Bool {
        if case .source(_, let isReplayable, _, _) = content { isReplayable } else { true }
    }

    /// The bytes, if they are in memory.
    public var data: Data? {
        switch content {
        case .empty: Data()
        case .data(let data): data
        case .unencoded, .form, .source: nil
        }
    }

    /// Where some bytes of a body come from.
    enum Piece: Sendable {
        case data(Data)
        case file(URL)
        /// From a reader: they are known only while they are sent.
        case unknown
    }

    /// Where its bytes come from, one piece after another.
    var pieces: [Piece] {
        switch content {
        case .empty: []
        case .data(let data): [.data(data)]
        case .unencoded, .form: [.unknown]
        case .source(_, _, let pieces, _): pieces
        }
    }

    /// Whether its values have been encoded already, or need not be.
    var isEncoded: Bool {
        switch content {
        case .unencoded, .form: false
        case .empty, .data, .source: true
        }
    }

    /// The body with its values encoded.
    ///
    /// - Parameter encoder: Encodes JSON, unless the body has an encoder of its own.
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/bodyNotEncodable`` with the encoder's error underlying.
    package func encoded(by encoder: JSONEncoder = JSONEncoder()) throws -> HTTPBody {
        do {
            switch content {
            case .unencoded(let encode): return HTTPBody(try encode(encoder).content, headers: headers)
            case .form(let form): return HTTPBody(try form.body(encoder).content, headers: headers)
            case .empty, .data, .source: return self
            }
        } catch let error as NetworkError {
            throw error
        } catch {
            throw NetworkError(.bodyNotEncodable, reason: HTTPBody.describe(error, of: "the body"), underlying: error)
        }
    }

    /// Opens the body for one attempt.
    ///
    /// - Throws: What encoding or the source throws.
    package func open() throws -> any HTTPBody.Reader {
        switch content {
        case .empty: DataBodyReader(Data())
        case .data(let data): DataBodyReader(data)
        case .unencoded, .form: try encoded().open()
        case .source(_, _, _, let open): try open()
        }
    }

    private static func described(by contentType: MediaType?) -> HTTPHeaders {
        contentType.map { [.contentType($0)] } ?? []
    }
}

extension HTTPBody: RedactedReflectable {
    /// How long it is, and nothing of what it says: `27 bytes`.
    var redactedDescription: String { length.map { "\($0) bytes" } ?? "a body of unknown length" }

    var reflectedMembers: KeyValuePairs<String, Any> { ["body": description, "headers": headers] }
}
