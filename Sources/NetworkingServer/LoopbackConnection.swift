import Foundation
import Networking

/// One accepted connection. Its own thread reads requests, starts a task for each request and writes the answers. The
/// tasks share only the jobs with this thread; a lock protects the jobs.
final class LoopbackConnection<Service: LoopbackService>: @unchecked Sendable {  // because only its thread uses it
    /// What the connection's thread has to do while a request is answered.
    private enum Job {
        case read(CheckedContinuation<Data?, any Error>)
        case answer(Service.Answer)
    }

    private let socket: LoopbackSocket
    private let number: Int
    private let service: Service
    private let isStopped: @Sendable () -> Bool
    private let count: @Sendable () -> Void
    private var buffer = Data()
    private var body = BodyFraming.none
    private var expectsContinue = false
    /// Whether the body of the current request ended early or was malformed.
    private var isTruncated = false

    private let mailbox = NSCondition()
    private var jobs: [Job] = []
    /// The number of the request that a handler is processing. Nil between two requests.
    private var handled: Int?
    private var requestCount = 0

    /// - Parameter count: Called for each request.
    init(
        _ socket: LoopbackSocket, number: Int, of service: Service, isStopped: @escaping @Sendable () -> Bool,
        count: @escaping @Sendable () -> Void
    ) {
        self.socket = socket
        self.number = number
        self.isStopped = isStopped
        self.count = count
        self.service = service
    }

    /// Serves requests until the client or the server closes the connection. The method blocks its thread.
    func serve() {
        while let head = readHead(), let request = request(head) {
            count()
            Task { post(.answer(await service.answer(request))) }
            let answer = answer()
            let isReusable = try? service.write(answer, on: socket, after: buffer, isStopped: isStopped)
            guard isReusable == true else { return }
            // Without "100 Continue", the client may or may not send the body. The next bytes may be the body or a new
            // request, so the connection ends.
            guard !expectsContinue else { return }
            while readBody() != nil {}
        }
    }

    private func post(_ job: Job) {
        mailbox.lock()
        jobs.append(job)
        mailbox.signal()
        mailbox.unlock()
    }

    /// Returns the next piece of a request's body. Returns nil at the end of the body, and after the handler has
    /// returned a response.
    ///
    /// - Throws: ``NetworkError`` of kind `truncatedBody` if the body is malformed, or if it ends early because the
    ///   client closed the connection.
    private func pull(_ number: Int) async throws -> Data? {
        try await withCheckedThrowingContinuation { continuation in
            mailbox.lock()
            let isHandled = handled == number
            if isHandled { jobs.append(.read(continuation)) }
            mailbox.signal()
            mailbox.unlock()
            if !isHandled { continuation.resume(returning: nil) }
        }
    }

    /// Reads the body for the handler, piece by piece, until the handler returns a response.
    private func answer() -> Service.Answer {
        while true {
            switch nextJob() {
            case .read(let continuation):
                let piece = readBody()
                if piece == nil, isTruncated {
                    continuation.resume(
                        throwing: NetworkError(
                            .truncatedBody,
                            reason: "the client ended the request's body early, or the body is malformed"))
                } else {
                    continuation.resume(returning: piece)
                }
            case .answer(let answer):
                endHandling()
                return answer
            }
        }
    }

    /// Ends the handling of a request. If the handler is still reading the body, it reads no more bytes.
    private func endHandling() {
        mailbox.lock()
        let late = jobs
        jobs = []
        handled = nil
        mailbox.unlock()
        for case .read(let continuation) in late { continuation.resume(returning: nil) }
    }

    private func beginHandling() -> Int {
        mailbox.lock()
        defer { mailbox.unlock() }
        requestCount += 1
        handled = requestCount
        return requestCount
    }

    private func nextJob() -> Job {
        mailbox.lock()
        defer { mailbox.unlock() }
        while jobs.isEmpty { mailbox.wait() }
        return jobs.removeFirst()
    }
}

// Reading.
extension LoopbackConnection {
    private func request(_ head: [String]) -> IncomingRequest? {
        let words = head[0].split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3 else { return nil }
        let fields = head.dropFirst().compactMap { line -> HTTPHeader? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return HTTPHeader(HTTPHeader.Name(String(line[..<colon])), value)
        }
        let headers = HTTPHeaders(fields)
        if headers["Transfer-Encoding"]?.lowercased() == "chunked" {
            body = .chunked
        } else {
            body = headers.contentLength.map { .fixed(remaining: $0) } ?? .none
        }
        expectsContinue = headers["Expect"]?.lowercased() == "100-continue"
        let turn = beginHandling()
        return IncomingRequest(
            method: HTTPMethod(String(words[0])), target: String(words[1]), fields: fields,
            body: IncomingBody { [self] in try await pull(turn) }, connection: number)
    }

    private func readHead() -> [String]? {
        let separator = Data("\r\n\r\n".utf8)
        // Bytes that were already searched are not searched again, except the last few, which may be the beginning of a
        // separator.
        var searched = 0
        while true {
            if let end = buffer.range(of: separator, in: (buffer.startIndex + searched)..<buffer.endIndex) {
                guard end.lowerBound - buffer.startIndex <= service.longestHead else { return nil }
                let head = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
                buffer = Data(buffer[end.upperBound...])
                return head.components(separatedBy: "\r\n")
            }
            // A TLS handshake begins with the byte 0x16. The connection is closed, because the TLS client would
            // otherwise wait for a response that never comes.
            guard buffer.count < service.longestHead, buffer.first != 0x16, let more = socket.read() else { return nil }
            searched = max(buffer.count - separator.count + 1, 0)
            buffer.append(more)
        }
    }

    private func readBody() -> Data? {
        if expectsContinue {
            expectsContinue = false
            try? socket.write(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        switch body {
        case .none: return nil
        case .fixed(let remaining): return readFixed(remaining)
        case .chunked: return readChunk()
        }
    }

    private func readFixed(_ remaining: Int) -> Data? {
        guard remaining > 0, fillBuffer(to: 1) else {
            isTruncated = remaining > 0
            body = .none
            return nil
        }
        let piece = takeBuffer(min(remaining, buffer.count))
        body = .fixed(remaining: remaining - piece.count)
        return piece
    }

    private func readChunk() -> Data? {
        guard let line = readLine(), let size = Int(line.prefix { $0 != ";" }, radix: 16), (0..<1 << 30).contains(size)
        else { return endTruncated() }
        if size == 0 {
            // Trailer fields may follow. They are ignored.
            while let trailer = readLine() {
                guard trailer.isEmpty else { continue }
                body = .none
                return nil
            }
            return endTruncated()
        }
        guard fillBuffer(to: size + 2) else { return endTruncated() }
        let chunk = takeBuffer(size)
        buffer = Data(buffer.dropFirst(2))
        return chunk
    }

    private func endTruncated() -> Data? {
        isTruncated = true
        body = .none
        return nil
    }

    private func readLine() -> String? {
        while true {
            if let end = buffer.range(of: Data("\r\n".utf8)) {
                let line = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
                buffer = Data(buffer[end.upperBound...])
                return line
            }
            guard let more = socket.read() else { return nil }
            buffer.append(more)
        }
    }

    private func fillBuffer(to count: Int) -> Bool {
        while buffer.count < count {
            guard let more = socket.read() else { return false }
            buffer.append(more)
        }
        return true
    }

    private func takeBuffer(_ count: Int) -> Data {
        let piece = Data(buffer.prefix(count))
        buffer = Data(buffer.dropFirst(count))
        return piece
    }
}

/// How the body of a request is framed.
private enum BodyFraming {
    case none
    case fixed(remaining: Int)
    case chunked
}
