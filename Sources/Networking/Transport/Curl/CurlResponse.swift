#if os(Linux)
    /// A response as libcurl delivers it: the lines of its head, then pieces of its body. If a piece was not taken,
    /// libcurl delivers the whole piece again.
    ///
    /// Used on the loop's thread only.
    struct CurlResponse: ~Copyable {
        private let transfer: Transfer
        private let limits: CurlTransport.Configuration.Limits
        private let requiresHTTP2: Bool
        private var headReader: ResponseHeadReader
        /// The decoders for the response's content codings; nil if the response has no content coding, or one that the
        /// engine does not know.
        private var decoding: ContentDecoding?
        /// The number of already decoded bytes in the piece that libcurl will deliver again.
        private var decodedBefore = 0
        /// Whether libcurl decodes a transfer coding other than `chunked`, which can expand the body.
        private var hasTransferCoding = false
        private var bytesTaken = 0
        /// Whether any byte has arrived.
        private(set) var hasBegun = false

        init(to transfer: Transfer, _ configuration: CurlTransport.Configuration) {
            self.transfer = transfer
            limits = configuration.limits
            requiresHTTP2 = configuration.httpVersions == .http2
            headReader = ResponseHeadReader(limit: limits.headBytes)
        }

        /// Receives a line of the head or of the trailers.
        ///
        /// - Returns: The head, if this line completes it.
        mutating func receive(line: UnsafeRawBufferPointer) throws(NetworkError) -> ResponseHead? {
            hasBegun = true
            switch headReader.read(line) {
            case .more:
                return nil
            case .head(let head):
                try receive(head)
                return head
            case .tooLarge(let limit):
                throw NetworkError(.responseTooLarge, reason: "the response head has \(limit)")
            case .malformed(let reason):
                throw NetworkError(.malformedResponse, reason: "the response is not HTTP: \(reason)")
            }
        }

        private mutating func receive(_ head: ResponseHead) throws(NetworkError) {
            if requiresHTTP2, head.version != "2" {
                throw NetworkError(
                    .malformedResponse,
                    reason: "expected HTTP/2, which httpVersions requires, found HTTP/\(head.version ?? "1.1")")
            }
            let length = try head.bodyLength(for: transfer.request.method)
            if head.headers.contains(.contentEncoding) {
                decoding = try ContentDecoding(head.headers, limit: limits.decodedBytes) {
                    [transfer] bytes throws(NetworkError) in
                    try transfer.take(bytes)
                }
            }
            hasTransferCoding =
                head.headers.hasTransferCoding && head.headers[.transferEncoding]?.lowercased() != "chunked"
            let isAsSent = decoding == nil && !hasTransferCoding
            if isAsSent, let length, length > 0 { transfer.expect(bytes: Int(clamping: length)) }
        }

        /// Receives a piece of the body.
        ///
        /// - Returns: Whether the piece was taken; if not, libcurl must be paused.
        /// - Throws: ``NetworkError``. Its kind is ``NetworkError/Kind/cancelled`` if the caller no longer waits.
        mutating func receive(body: UnsafeRawBufferPointer) throws(NetworkError) -> Bool {
            guard let decoding else { return try pass(body) }
            let skipped = min(decodedBefore, body.count)
            decodedBefore += try decoding.decode(UnsafeRawBufferPointer(rebasing: body[skipped...]))
            guard !decoding.isHeldBack else { return false }
            decodedBefore -= body.count
            return true
        }

        private mutating func pass(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) -> Bool {
            guard hasTransferCoding else { return try transfer.take(bytes) == bytes.count }
            guard bytesTaken + bytes.count <= limits.decodedBytes else {
                throw NetworkError(
                    .responseTooLarge, reason: "the response decodes to more than \(limits.decodedBytes) bytes")
            }
            let count = try transfer.take(bytes)
            bytesTaken += count
            return count == bytes.count
        }

        /// Checks that the body is complete, after libcurl has reported the end of the response.
        func finish() throws(NetworkError) {
            try decoding?.finish()
        }
    }

    extension Transfer {
        /// Passes bytes to the transfer. The transfer takes all bytes, or no bytes while its buffer is full.
        ///
        /// - Returns: The number of bytes taken.
        fileprivate func take(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) -> Int {
            switch receive(bytes) {
            case .taken: bytes.count
            case .full: 0
            case .abandoned: throw NetworkError(.cancelled)
            }
        }
    }
#endif
