#if os(Linux)
    import CLibcurl

    /// A response as libcurl delivers it: the lines of its head, then pieces of its body. If a piece was not taken,
    /// libcurl delivers the whole piece again.
    ///
    /// Used on the loop's thread only.
    struct CurlResponse: ~Copyable {
        private let transfer: Transfer
        private let limits: CurlTransport.Configuration.Limits
        private let pace: CurlPace
        private let requiresHTTP2: Bool
        private var headReader: ResponseHeadReader
        /// The first decoder for the response's content codings; nil if the response has no content coding, or one that
        /// the engine does not know.
        private var decoding: ContentDecoder?
        /// The number of already decoded bytes in the piece that libcurl will deliver again.
        private var decodedBefore = 0
        private var bytesTaken = 0
        /// The length of the encoded body. Nil if the body is not decoded, or if its length is not known.
        private var encodedLength: Int64?
        /// The status of the response; nil if its head has not arrived.
        private(set) var status: HTTPStatus?
        /// Whether any byte has arrived.
        private(set) var hasBegun = false

        init(to transfer: Transfer, on loop: CurlLoop) {
            self.transfer = transfer
            pace = loop.pace
            limits = loop.limits
            requiresHTTP2 = loop.requiresHTTP2
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
                status = head.status
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
            if head.mayHaveBody(for: transfer.request.method) { try head.requireChunked() }
            if head.headers.contains(.contentEncoding) {
                decoding = try ContentDecoder.first(for: head.headers, limits, pace) {
                    [transfer] bytes throws(NetworkError) in
                    try transfer.take(bytes)
                }
            }
            if decoding != nil { encodedLength = length }
            if decoding == nil, let length, length > 0 { transfer.expect(bytes: Int(clamping: length)) }
        }

        /// Receives a piece of the body.
        ///
        /// - Returns: Whether the piece was taken; if not, libcurl must be paused.
        /// - Throws: ``NetworkError``. Its kind is ``NetworkError/Kind/cancelled`` if the caller no longer waits.
        mutating func receive(body: UnsafeRawBufferPointer) throws(NetworkError) -> Bool {
            guard let decoding else { return try transfer.take(body) == body.count }
            let skipped = min(decodedBefore, body.count)
            decodedBefore += try decoding.decode(
                UnsafeRawBufferPointer(rebasing: body[skipped...]), received: bytesTaken + body.count)
            guard decodedBefore == body.count, !decoding.isHeldBack else { return false }
            decodedBefore -= body.count
            bytesTaken += body.count
            if let encodedLength { transfer.noteEncoded(bytesTaken, of: encodedLength) }
            return true
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

    /// Header lines as a linked list for libcurl. The nodes of the list and the text of the lines are in one block of
    /// memory.
    final class CurlHeaderLines {
        private typealias Node = clibcurl_slist

        private var block = UnsafeMutableRawBufferPointer.allocate(byteCount: 512, alignment: 16)

        deinit {
            block.deallocate()
        }

        /// Creates a list.
        ///
        /// - Parameter lines: The lines to write immediately. Default: none.
        init(_ lines: [String] = []) {
            list = nil
            if !lines.isEmpty { list = write([], and: lines) }
        }

        /// The list of the lines that were passed to ``init(_:)``; nil if there were none.
        private(set) var list: UnsafeRawPointer?

        /// Writes the lines.
        ///
        /// - Returns: The list, which is valid until the next call; nil if there are no lines.
        func write(_ headers: HTTPHeaders, and more: [String]) -> UnsafeRawPointer? {
            headers.withFields { write($0, and: more) }
        }

        private func write(_ fields: UnsafeBufferPointer<HTTPHeader>, and more: [String]) -> UnsafeRawPointer? {
            let count = fields.count + more.count
            guard count > 0 else { return nil }
            let nodes = count * MemoryLayout<Node>.stride
            var size = nodes
            for index in fields.indices { size += CurlHeaderLines.size(fields[index]) }
            for index in more.indices { size += more[index].utf8.count + 1 }
            reserve(for: size)
            var end = nodes
            for index in fields.indices {
                link(index, to: end, isLast: index == count - 1)
                append(fields[index].name.rawValue, at: &end)
                // libcurl sends a name with a semicolon as a field without a value. If a colon followed the name,
                // libcurl would omit the field.
                append(fields[index].value.isEmpty ? ";" : ": ", at: &end)
                append(fields[index].value, at: &end)
                terminate(at: &end)
            }
            for index in more.indices {
                link(fields.count + index, to: end, isLast: fields.count + index == count - 1)
                append(more[index], at: &end)
                terminate(at: &end)
            }
            return UnsafeRawPointer(block.baseAddress)
        }

        /// Overwrites the lines, which may contain credentials.
        ///
        /// - Returns: Whether the block has its initial size.
        func clear() -> Bool {
            block.initializeMemory(as: UInt8.self, repeating: 0)
            return block.count == 512
        }

        private static func size(_ field: HTTPHeader) -> Int {
            field.name.rawValue.utf8.count + field.value.utf8.count + 3
        }

        private func reserve(for size: Int) {
            guard size > block.count else { return }
            block.deallocate()
            block = UnsafeMutableRawBufferPointer.allocate(byteCount: max(size, 2 * block.count), alignment: 16)
        }

        private func link(_ index: Int, to position: Int, isLast: Bool) {
            // The block is never empty, so it has an address.
            guard let base = block.baseAddress else { return }
            let stride = MemoryLayout<Node>.stride
            let next = isLast ? nil : (base + (index + 1) * stride).assumingMemoryBound(to: Node.self)
            let text = (base + position).assumingMemoryBound(to: CChar.self)
            (base + index * stride).initializeMemory(as: Node.self, to: Node(data: text, next: next))
        }

        private func append(_ text: String, at end: inout Int) {
            let start = end
            // Writes the bytes directly, because a copy of the text would have to be retained and released.
            let isWritten: Void? = text.utf8.withContiguousStorageIfAvailable { bytes in
                UnsafeMutableRawBufferPointer(rebasing: block[start...]).copyMemory(from: UnsafeRawBufferPointer(bytes))
            }
            end += text.utf8.count
            if isWritten == nil { for (index, byte) in text.utf8.enumerated() { block[start + index] = byte } }
        }

        private func terminate(at end: inout Int) {
            block[end] = 0
            end += 1
        }
    }
#endif
