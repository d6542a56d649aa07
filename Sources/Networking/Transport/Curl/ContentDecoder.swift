#if os(Linux)
    import CLibcurl

    /// A decoder for one content coding of a response body. It decodes piece by piece and passes the result to the next
    /// stage.
    ///
    /// The next stage may refuse bytes for a while. Then the decoder stores them, ``isHeldBack`` is true, and the next
    /// call of ``decode(_:)`` passes them on. A decoder must be used by only one thread at a time.
    final class ContentDecoder {
        /// A closure that receives decoded bytes, and returns how many of them it has taken.
        typealias Sink = (UnsafeRawBufferPointer) throws(NetworkError) -> Int

        private let coding: ContentCoding
        private let limits: CurlTransport.Configuration.Limits
        private let pace: CurlPace
        private var outputTotal = 0
        /// The number of compressed streams that have ended.
        private var streams = 0
        /// The next decoder; nil if the decoded bytes go to ``sink``.
        private let next: ContentDecoder?
        private let sink: Sink
        private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 32_768, alignment: 16)
        private var decoding: OpaquePointer?
        /// The maximum number of input bytes that one step decodes. Decoding takes up to 2 µs per byte (brotli).
        private static let step = 512
        /// The bytes of ``output`` that the next stage has not taken.
        private var pending = 0..<0
        private var hasInput = false
        /// Whether the decoder has read a complete stream of its coding, and no further stream has produced output.
        private var isComplete = false
        private var isOver = false

        private init(
            _ coding: ContentCoding, _ limits: CurlTransport.Configuration.Limits, _ pace: CurlPace,
            before next: ContentDecoder?, sink: @escaping Sink
        ) {
            (self.coding, self.limits, self.pace, self.next, self.sink) = (coding, limits, pace, next, sink)
        }

        /// Creates the decoders for the content codings of a response. They run one after another.
        ///
        /// - Parameters:
        ///   - headers: The response's header fields.
        ///   - limits: The limits of the decoded bytes. Each decoder checks them, because two codings can expand a
        ///     small body to a very large one.
        ///   - pace: The time that decoding may take.
        ///   - sink: A closure that receives the decoded bytes.
        /// - Returns: The decoder that receives the bytes of the connection. Nil if the body has no content coding, or
        ///   if the engine does not know one of its codings. The caller then passes the bytes on unchanged.
        /// - Throws: ``NetworkError`` if the body has more than 2 content codings.
        static func first(
            for headers: HTTPHeaders, _ limits: CurlTransport.Configuration.Limits, _ pace: CurlPace,
            into sink: @escaping Sink
        ) throws(NetworkError) -> ContentDecoder? {
            let tokens = headers.contentCodings
            let codings = tokens.compactMap { ContentCoding(token: $0) }.filter { ContentCoding.available.contains($0) }
            guard codings.count == tokens.count else { return nil }
            guard codings.count <= 2 else {
                throw NetworkError(
                    .undecodableContent, reason: "Content-Encoding: expected at most 2 codings, found \(codings.count)")
            }
            // The last coding was applied last, so it is decoded first.
            var first: ContentDecoder?
            for coding in codings { first = ContentDecoder(coding, limits, pace, before: first, sink: sink) }
            return first
        }

        deinit {
            if let decoding { cdecoding_free(decoding) }
            output.deallocate()
        }

        /// Whether decoded bytes wait for the next stage.
        var isHeldBack: Bool { !pending.isEmpty || next?.isHeldBack == true }

        /// Decodes until all input is used, until the next stage takes no more bytes, or until the time is over.
        ///
        /// - Parameter received: The number of bytes of the body that the connection has delivered so far.
        /// - Returns: The number of input bytes used.
        /// - Throws: ``NetworkError`` if the data is not valid or decodes to too many bytes, and the errors of the next
        ///   stage.
        func decode(_ input: UnsafeRawBufferPointer, received: Int) throws(NetworkError) -> Int {
            // Without this rule, a server could send an endless body that decodes to almost nothing.
            guard received <= 8 << 20 || received / 8 <= outputTotal else {
                throw failure("its encoded size is more than 8 times its decoded size")
            }
            guard try passOn(received) else { return 0 }
            var used = 0
            if !input.isEmpty { hasInput = true }
            var mayHaveOutput = true
            while !isOver, used < input.count || mayHaveOutput {
                if used > 0, used < input.count, pace.isOver() { return used }
                let rest = UnsafeRawBufferPointer(rebasing: input[used..<min(used + Self.step, input.count)])
                guard decoding != nil || !rest.isEmpty else { break }
                used += try step(rest, received)
                mayHaveOutput = pending.upperBound == output.count
                if !pending.isEmpty, pace.isOver() { return used }
                // The output of several steps is passed on together.
                if mayHaveOutput, try !passOn(received) { return used }
            }
            guard try passOn(received) else { return used }
            return isOver ? input.count : used
        }

        /// Checks that the input of this decoder and of the next decoders is complete.
        ///
        /// - Throws: ``NetworkError`` if the input ends before the end of a compressed stream.
        func finish() throws(NetworkError) {
            guard !hasInput || isComplete else { throw failure("the data is incomplete") }
            try next?.finish()
        }

        private func step(_ input: UnsafeRawBufferPointer, _ received: Int) throws(NetworkError) -> Int {
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
            let room = UnsafeMutableRawBufferPointer(rebasing: output[pending.upperBound...])
            var (inputCount, outputCount) = (input.count, room.count)
            let result = cdecoding_run(decoding, input.baseAddress, &inputCount, room.baseAddress, &outputCount)
            pending = pending.lowerBound..<pending.upperBound + outputCount
            outputTotal += outputCount
            try checkSize(received)
            switch result {
            case CDECODING_END:
                isComplete = true
                streams += 1
                // Creating a decoder takes as long as decoding some kilobytes, and a stream may have no content.
                // Therefore, the number of streams is limited.
                guard streams <= 100 + received / 256 + outputTotal / 1_024 else {
                    throw failure("it consists of more than \(streams - 1) compressed streams with almost no content")
                }
                if let decoding = self.decoding { cdecoding_free(decoding) }
                self.decoding = nil
            case CDECODING_MORE:
                if outputCount > 0 { isComplete = false }
            default:
                // After a complete stream, invalid data is ignored. The gzip tool ignores it, too.
                guard isComplete else { throw failure("the data is not valid \(coding.rawValue)") }
                isOver = true
            }
            return inputCount
        }

        private func checkSize(_ received: Int) throws(NetworkError) {
            guard outputTotal <= limits.decodedBytes else {
                throw NetworkError(
                    .responseTooLarge, reason: "the response decodes to more than \(limits.decodedBytes) bytes")
            }
            // A small body may have any ratio, because decoding it takes little time.
            guard outputTotal <= 8 << 20 || outputTotal / max(limits.decodedRatio, 1) <= received else {
                throw NetworkError(
                    .responseTooLarge,
                    reason: "the response decodes to more than \(limits.decodedRatio) times its bytes (decodedRatio)")
            }
            // Data that is already compressed can hardly be compressed again, so the output of the first of two
            // decoders is limited. Decoding this output takes time even if the result is empty.
            guard next == nil || outputTotal <= 16 << 10 || outputTotal / 4 <= received else {
                throw NetworkError(
                    .responseTooLarge,
                    reason:
                        "after one of its two content codings was decoded, the response is more than 4 times as large as received"
                )
            }
        }

        /// Passes the pending bytes to the next stage.
        ///
        /// - Returns: Whether the next stage took all pending bytes.
        private func passOn(_ received: Int) throws(NetworkError) -> Bool {
            if isHeldBack {
                let bytes = UnsafeRawBufferPointer(rebasing: output[pending])
                let taken: Int
                if let next { taken = try next.decode(bytes, received: received) } else { taken = try sink(bytes) }
                pending = pending.lowerBound + taken..<pending.upperBound
                if pending.isEmpty { pending = 0..<0 }
            }
            return !isHeldBack
        }

        private func failure(_ reason: String) -> NetworkError {
            NetworkError(.undecodableContent, reason: "the body cannot be decoded from \(coding.rawValue): \(reason)")
        }
    }

    /// A content coding that the engine can decode (RFC 9110 section 8.4.1).
    enum ContentCoding: String, CaseIterable {
        case gzip, deflate
        case brotli = "br"
        case zstd

        /// Creates a coding; nil if the engine does not know it.
        ///
        /// - Parameter token: The name in `Content-Encoding`.
        init?(token: some StringProtocol) {
            let name = token.lowercased()
            self.init(rawValue: name == "x-gzip" ? "gzip" : name)
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
            available.isEmpty ? [] : ["Accept-Encoding: " + available.map(\.rawValue).joined(separator: ", ")]
    }
#endif
