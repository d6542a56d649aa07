#if os(Linux)
    import CLibcurl

    /// Decodes one content coding of a response body, piece by piece, and passes the result on.
    ///
    /// The next stage may refuse bytes for a while: the decoder keeps them, ``isHeldBack`` is true, and ``decode(_:)``
    /// passes them on when it is called again. Used on one thread at a time.
    final class ContentDecoder {
        /// The next stage: takes bytes, and returns how many.
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
        /// Whether a whole stream has been decoded, and nothing of another one.
        private var isComplete = false
        private var isOver = false

        /// - Parameter limit: The largest number of bytes to decode to. (Several codings may make much of little.)
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

        /// Decodes until the input is used up or the next stage takes no more.
        ///
        /// - Returns: The number of bytes used.
        /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/undecodableContent``, or the next stage's error.
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

        /// - Throws: ``NetworkError`` if the input has ended inside a stream.
        func finish() throws(NetworkError) {
            guard hasInput, !isComplete else { return }
            throw failure("it ended early")
        }

        private func step(_ input: UnsafeRawBufferPointer) throws(NetworkError) -> Int {
            // Another stream may follow one that has ended (RFC 1952 section 2.2, RFC 8878 section 3); anything else is
            // ignored.
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
                // Bytes after a complete stream that are not another one are ignored, as gzip itself does.
                guard isComplete else { throw failure("the bytes are not \(coding.name)") }
                isOver = true
            }
            return inputCount
        }

        /// Passes on the bytes that are pending.
        ///
        /// - Returns: Whether the next stage took them all.
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
#endif
