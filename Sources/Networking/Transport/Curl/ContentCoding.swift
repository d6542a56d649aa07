#if os(Linux)
    import CLibcurl

    /// A content coding that the engine can decode (RFC 9110 section 8.4.1).
    enum ContentCoding: CaseIterable {
        case gzip, deflate, brotli, zstd

        /// Creates a coding; nil if the engine does not know it.
        ///
        /// - Parameter token: The name in `Content-Encoding`.
        init?(token: some StringProtocol) {
            switch token.lowercased() {
            case "gzip", "x-gzip": self = .gzip
            case "deflate": self = .deflate
            case "br": self = .brotli
            case "zstd": self = .zstd
            default: return nil
            }
        }

        var name: String {
            switch self {
            case .gzip: "gzip"
            case .deflate: "deflate"
            case .brotli: "br"
            case .zstd: "zstd"
            }
        }

        /// Returns the decoder for a stream that begins with the given byte. Servers send "deflate" either with a zlib
        /// header (RFC 1950), which is correct, or without a header.
        func decoder(for first: UInt8?) -> cdecoding_coding {
            switch self {
            case .gzip: CDECODING_GZIP
            case .deflate: (first ?? 0) & 0x0F == 8 ? CDECODING_ZLIB : CDECODING_DEFLATE
            case .brotli: CDECODING_BROTLI
            case .zstd: CDECODING_ZSTD
            }
        }

        /// Returns whether a byte that follows a complete stream may begin another stream of this coding.
        func mayBegin(with byte: UInt8) -> Bool {
            switch self {
            case .gzip: byte == 0x1F
            case .zstd: byte == 0x28 || byte & 0xF0 == 0x50
            case .deflate, .brotli: false
            }
        }

        /// The codings for which the system has a library.
        static let available = allCases.filter { cdecoding_is_available($0.decoder(for: nil)) }

        /// The header line that is added to requests without an `Accept-Encoding` field; empty if no coding is
        /// available.
        static let acceptFields =
            available.isEmpty ? [] : ["Accept-Encoding: " + available.map(\.name).joined(separator: ", ")]
    }

    /// The decoders for the content codings of one response body. They run one after another.
    struct ContentDecoding {
        /// The decoders. The first one receives the bytes of the connection.
        private let decoders: [ContentDecoder]

        /// Creates the decoders for a response.
        ///
        /// - Parameters:
        ///   - headers: The response's header fields.
        ///   - limit: The largest number of decoded bytes.
        ///   - sink: A closure that receives the decoded bytes.
        /// - Returns: Nil if the body has no content coding, or if the engine does not know one of its codings. The
        ///   caller then passes the bytes on unchanged.
        /// - Throws: ``NetworkError`` if the body has more than 5 content codings.
        init?(_ headers: HTTPHeaders, limit: Int, into sink: @escaping ContentDecoder.Next) throws(NetworkError) {
            let tokens = headers.values(for: .contentEncoding).flatMap { $0.split(separator: ",") }
                .map { $0.trimmingBlanks() }.filter { $0.lowercased() != "identity" && !$0.isEmpty }
            let codings = tokens.compactMap { ContentCoding(token: $0) }.filter { ContentCoding.available.contains($0) }
            guard !codings.isEmpty, codings.count == tokens.count else { return nil }
            guard codings.count <= 5 else {
                throw NetworkError(
                    .undecodableContent, reason: "Content-Encoding: expected at most 5 codings, found \(codings.count)")
            }
            var decoders = [ContentDecoder(codings[0], limit: limit, next: sink)]
            for coding in codings.dropFirst() {
                let inner = decoders[0]
                let outer = ContentDecoder(coding, limit: limit, isNextHeldBack: { inner.isHeldBack }) {
                    bytes throws(NetworkError) in
                    try inner.decode(bytes)
                }
                decoders.insert(outer, at: 0)
            }
            self.decoders = decoders
        }

        var isHeldBack: Bool { decoders[0].isHeldBack }

        func decode(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) -> Int {
            try decoders[0].decode(bytes)
        }

        func finish() throws(NetworkError) {
            for decoder in decoders { try decoder.finish() }
        }
    }
#endif
