#if os(Linux)
    import CLibcurl

    /// A decoder for one content coding of a response body. It decodes piece by piece and passes the result to the next
    /// stage.
    ///
    /// The next stage may refuse bytes for a while. Then the decoder stores them, ``isHeldBack`` is true, and the next
    /// call of ``decode(_:)`` passes them on. A decoder must be used by only one thread at a time.
    final class ContentDecoder {
        /// A closure that passes bytes to the next stage, and returns how many of them the next stage has taken.
        typealias Next = (UnsafeRawBufferPointer) throws(NetworkError) -> Int

        private let coding: ContentCoding
        private let limit: Int
        private var outputTotal = 0
        private let next: Next
        private let isNextHeldBack: () -> Bool
        private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 32_768, alignment: 16)
        private var decoding: OpaquePointer?
        /// The bytes of ``output`` that the next stage has not taken.
        private var pending = 0..<0
        private var hasInput = false
        /// Whether the decoder has read a complete stream of its coding, and no further stream has produced output.
        private var isComplete = false
        private var isOver = false

        /// - Parameter limit: The largest number of decoded bytes. (Several codings can expand a small body to a very
        ///   large one.)
        init(
            _ coding: ContentCoding, limit: Int, isNextHeldBack: @escaping () -> Bool = { false },
            next: @escaping Next
        ) {
            self.coding = coding
            self.limit = limit
            self.isNextHeldBack = isNextHeldBack
            self.next = next
        }

        deinit {
            if let decoding { cdecoding_free(decoding) }
            output.deallocate()
        }

        /// Whether decoded bytes wait for the next stage.
        var isHeldBack: Bool { !pending.isEmpty || isNextHeldBack() }

        /// Decodes until all input is used, or until the next stage takes no more bytes.
        ///
        /// - Returns: The number of input bytes used.
        /// - Throws: ``NetworkError`` if the data is not valid or decodes to too many bytes, and the errors of the next
        ///   stage.
        func decode(_ input: UnsafeRawBufferPointer) throws(NetworkError) -> Int {
            guard try passOn() else { return 0 }
            var used = 0
            if !input.isEmpty { hasInput = true }
            var mayHaveOutput = true
            while !isOver, used < input.count || mayHaveOutput {
                let rest = UnsafeRawBufferPointer(rebasing: input[used...])
                guard decoding != nil || !rest.isEmpty else { break }
                used += try step(rest)
                mayHaveOutput = pending.count == output.count
                guard try passOn() else { return used }
            }
            return isOver ? input.count : used
        }

        /// Checks that the input is complete.
        ///
        /// - Throws: ``NetworkError`` if the input ends before the end of a compressed stream.
        func finish() throws(NetworkError) {
            guard hasInput, !isComplete else { return }
            throw failure("the data is incomplete")
        }

        private func step(_ input: UnsafeRawBufferPointer) throws(NetworkError) -> Int {
            // Another stream may follow a complete stream (RFC 1952 section 2.2, RFC 8878 section 3). Bytes that do
            // not begin a stream are ignored.
            if isComplete, decoding == nil, let first = input.first, !coding.mayBegin(with: first) {
                isOver = true
                return 0
            }
            guard let decoding = decoding ?? cdecoding_create(coding.decoder(for: input.first)) else {
                throw failure("there is no memory for a decoder")
            }
            self.decoding = decoding
            var (inputCount, outputCount) = (input.count, output.count)
            let result = cdecoding_run(decoding, input.baseAddress, &inputCount, output.baseAddress, &outputCount)
            pending = 0..<outputCount
            outputTotal += outputCount
            guard outputTotal <= limit else {
                throw NetworkError(.responseTooLarge, reason: "the response decodes to more than \(limit) bytes")
            }
            switch result {
            case CDECODING_END:
                isComplete = true
                if let decoding = self.decoding { cdecoding_free(decoding) }
                self.decoding = nil
            case CDECODING_MORE:
                if outputCount > 0 { isComplete = false }
            default:
                // After a complete stream, invalid data is ignored. The gzip tool ignores it, too.
                guard isComplete else { throw failure("the data is not valid \(coding.name)") }
                isOver = true
            }
            return inputCount
        }

        /// Passes the pending bytes to the next stage.
        ///
        /// - Returns: Whether the next stage took all pending bytes.
        private func passOn() throws(NetworkError) -> Bool {
            if !pending.isEmpty || isNextHeldBack() {
                let taken = try next(UnsafeRawBufferPointer(rebasing: output[pending]))
                pending = pending.lowerBound + taken..<pending.upperBound
            }
            return !isHeldBack
        }

        private func failure(_ reason: String) -> NetworkError {
            NetworkError(.undecodableContent, reason: "the body cannot be decoded from \(coding.name): \(reason)")
        }
    }

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
