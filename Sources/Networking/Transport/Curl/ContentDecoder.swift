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
#endif
