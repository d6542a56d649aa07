/// Reads the response to a handshake. Only this response is read without libcurl. It consists of a head and, after a
/// refusal, of a body that ends as RFC 9112 section 6.3 says. Bytes after a head with status 101 remain in the input.
struct WebSocketResponse {
    enum Event {
        case head(ResponseHead)
        /// Bytes of the body.
        case body(UnsafeRawBufferPointer)
        /// The end of the body.
        case end
    }

    private enum State: Equatable {
        case head
        /// The connection no longer speaks HTTP.
        case switched
        case length(Int64)
        case chunkSize
        case chunk(Int)
        case chunkEnd
        case trailer
        case untilClosure
        case ended
    }

    private let method: HTTPMethod
    private let headLimit: Int
    private var reader: ResponseHeadReader
    private var state = State.head
    /// The line that has begun.
    private var line: [UInt8] = []
    /// The number of bytes in all lines after the head: chunk sizes and trailers.
    private var lineBytes = 0
    /// Whether any byte has arrived.
    private(set) var hasBegun = false

    init(to method: HTTPMethod, headLimit: Int) {
        self.method = method
        self.headLimit = headLimit
        reader = ResponseHeadReader(limit: headLimit, acceptsUpgrade: true)
    }

    /// Reads bytes up to the next event.
    ///
    /// - Parameter input: The bytes that have arrived. What was read is removed from its beginning.
    /// - Returns: The event; nil if more bytes are needed, or if the response has ended.
    mutating func next(_ input: inout UnsafeRawBufferPointer) throws(NetworkError) -> Event? {
        hasBegun = hasBegun || !input.isEmpty
        while true {
            switch state {
            case .switched, .ended:
                return nil
            case .head:
                guard let line = try readLine(&input) else { return nil }
                if let head = try readHead(line) { return .head(head) }
            case .length(0):
                state = .ended
                return .end
            case .length(let left):
                guard !input.isEmpty else { return nil }
                let part = take(&input, upTo: Int(min(left, Int64(input.count))))
                state = .length(left - Int64(part.count))
                return .body(part)
            case .untilClosure:
                return input.isEmpty ? nil : .body(take(&input, upTo: input.count))
            case .chunkSize:
                guard let line = try readLine(&input) else { return nil }
                let size = try WebSocketResponse.chunkSize(line)
                state = size == 0 ? .trailer : .chunk(size)
            case .chunk(let left):
                guard !input.isEmpty else { return nil }
                let part = take(&input, upTo: min(left, input.count))
                state = part.count == left ? .chunkEnd : .chunk(left - part.count)
                return .body(part)
            case .chunkEnd:
                guard let line = try readLine(&input) else { return nil }
                guard line.isEmpty else {
                    throw WebSocketResponse.malformed("expected a line break after a chunk, found other bytes")
                }
                state = .chunkSize
            case .trailer:
                guard let line = try readLine(&input) else { return nil }
                guard line.isEmpty else { continue }
                state = .ended
                return .end
            }
        }
    }

    /// Returns the error if the response is not complete when its connection ends.
    func errorAtClosure() -> NetworkError? {
        switch state {
        case .switched, .ended, .untilClosure: nil
        case .head: NetworkError(.connectionLostBeforeHead)
        default: NetworkError(.truncatedBody)
        }
    }

    private func take(_ input: inout UnsafeRawBufferPointer, upTo count: Int) -> UnsafeRawBufferPointer {
        defer { input = UnsafeRawBufferPointer(rebasing: input[count...]) }
        return UnsafeRawBufferPointer(rebasing: input[..<count])
    }

    /// Returns the next line without its end; nil if it is not complete.
    private mutating func readLine(_ input: inout UnsafeRawBufferPointer) throws(NetworkError) -> [UInt8]? {
        let end = input.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? input.count
        line += take(&input, upTo: end)
        if state != .head { lineBytes += end }
        guard line.count <= headLimit, lineBytes <= headLimit else {
            throw NetworkError(.responseTooLarge, reason: "the response head has more than \(headLimit) bytes")
        }
        guard line.last == UInt8(ascii: "\n") else { return nil }
        defer { line = [] }
        if state == .head { return line }
        line.removeLast()
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line
    }

    private mutating func readHead(_ line: [UInt8]) throws(NetworkError) -> ResponseHead? {
        switch line.withUnsafeBytes({ reader.read($0) }) {
        case .more: return nil
        case .tooLarge(let limit): throw NetworkError(.responseTooLarge, reason: "the response head has \(limit)")
        case .malformed(let reason): throw WebSocketResponse.malformed(reason)
        case .head(let head):
            state = try WebSocketResponse.framing(of: head, to: method)
            return head
        }
    }

    private static func framing(of head: ResponseHead, to method: HTTPMethod) throws(NetworkError) -> State {
        guard head.status != .switchingProtocols else { return .switched }
        guard head.mayHaveBody(for: method) else { return .length(0) }
        try head.requireChunked()
        if head.headers.hasTransferCoding { return .chunkSize }
        if let length = try head.bodyLength(for: method) { return .length(length) }
        return .untilClosure
    }

    private static func chunkSize(_ line: [UInt8]) throws(NetworkError) -> Int {
        let digits = line.prefix { $0 != UInt8(ascii: ";") && !HTTPGrammar.isBlank($0) }
        guard !digits.isEmpty, digits.count <= 15, digits.allSatisfy({ PercentEncoding.isHexDigit($0) }),
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw malformed("expected the size of a chunk as a hexadecimal number, found another line") }
        return size
    }

    private static func malformed(_ reason: String) -> NetworkError {
        NetworkError(.malformedResponse, reason: "the response is not HTTP: \(reason)")
    }
}
