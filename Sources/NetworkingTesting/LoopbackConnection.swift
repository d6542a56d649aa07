import Foundation
import Networking

/// One accepted connection: a thread of its own reads requests, has them handled and writes the answers.
final class LoopbackConnection: @unchecked Sendable {  // because its own thread alone touches it
    /// What the connection's thread is asked to do while a handler runs.
    private enum Job {
        case read(CheckedContinuation<Data?, any Error>)
        case answer(LoopbackAnswer)
    }

    private let socket: LoopbackSocket
    private let number: Int
    private let handler: @Sendable (LoopbackRequest) async -> LoopbackAnswer
    private let isStopped: @Sendable () -> Bool
    private var buffer = Data()
    private var body = BodyFraming.none
    private var expectsContinue = false
    /// The client left in the middle of a request's body.
    private var isTruncated = false

    private let mailbox = NSCondition()
    private var jobs: [Job] = []
    /// The number of the request that is being handled; nil between two.
    private var handled: Int?
    private var requestCount = 0

    init(
        _ socket: LoopbackSocket, number: Int, isStopped: @escaping @Sendable () -> Bool,
        handler: @escaping @Sendable (LoopbackRequest) async -> LoopbackAnswer
    ) {
        self.socket = socket
        self.number = number
        self.isStopped = isStopped
        self.handler = handler
    }

    /// Serves requests until one side ends the connection. Blocks.
    func serve() {
        while let head = readHead(), let request = request(head) {
            Task { post(.answer(await handler(request))) }
            guard let isReusable = try? write(answer(), to: request), isReusable else { return }
            // A client that was never told to go on may send its body or not: what comes next cannot be told apart.
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

    /// The next piece of a request's body; nil at its end, and once the request has been answered.
    ///
    /// - Throws: ``NetworkError`` of kind `truncatedBody` where the client left in the middle of it.
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

    /// Reads the body for the handler, piece by piece, until it has an answer.
    private func answer() -> LoopbackAnswer {
        while true {
            switch nextJob() {
            case .read(let continuation):
                let piece = readBody()
                if piece == nil, isTruncated {
                    continuation.resume(throwing: NetworkError(.truncatedBody, reason: "the request's body is cut off"))
                } else {
                    continuation.resume(returning: piece)
                }
            case .answer(let answer):
                endHandling()
                return answer
            }
        }
    }

    /// Whoever still reads the body gets its end.
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
    private enum BodyFraming {
        case none
        case fixed(remaining: Int)
        case chunked
    }

    private func request(_ head: [String]) -> LoopbackRequest? {
        let words = head[0].split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3 else { return nil }
        let fields = head.dropFirst().compactMap { line -> HTTPHeader? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return HTTPHeader(HTTPHeaderName(String(line[..<colon])), value)
        }
        let headers = HTTPHeaders(fields)
        if headers[.transferEncoding]?.lowercased() == "chunked" {
            body = .chunked
        } else {
            body = headers.contentLength.map { .fixed(remaining: $0) } ?? .none
        }
        expectsContinue = headers[.expect]?.lowercased() == "100-continue"
        let turn = beginHandling()
        return LoopbackRequest(
            method: HTTPMethod(String(words[0])), target: String(words[1]), fields: fields,
            body: IncomingBody { [self] in try await pull(turn) }, connection: number)
    }

    private func readHead() -> [String]? {
        let separator = Data("\r\n\r\n".utf8)
        while true {
            if let end = buffer.range(of: separator) {
                let head = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
                buffer = Data(buffer[end.upperBound...])
                return head.components(separatedBy: "\r\n")
            }
            // A TLS handshake begins with this byte: it would wait for an answer that never comes.
            guard buffer.count < 1 << 20, buffer.first != 0x16, let more = socket.read() else { return nil }
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
        guard let line = readLine(), let size = Int(line.prefix { $0 != ";" }, radix: 16), (0..<1 << 30).contains(size),
            fillBuffer(to: size + 2)
        else {
            isTruncated = true
            body = .none
            return nil
        }
        let chunk = takeBuffer(size)
        guard size > 0 else {
            buffer = Data(buffer.dropFirst(2))
            body = .none
            return nil
        }
        buffer = Data(buffer.dropFirst(2))
        return chunk
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

// Writing.
extension LoopbackConnection {
    /// Writes an answer with its fault.
    ///
    /// - Returns: Whether the connection can carry another request.
    private func write(_ answer: LoopbackAnswer, to request: LoopbackRequest) throws -> Bool {
        if answer.delay > .zero { Thread.sleep(forTimeInterval: answer.delay / .seconds(1)) }
        switch answer.fault {
        case .closeBeforeHead:
            return false
        case .resetBeforeHead:
            socket.resetOnClose()
            return false
        case .stallBeforeHead:
            stall()
            return false
        case .malformedStatusLine:
            try socket.write(Data("HTTQ/9 what?\r\n\r\n".utf8))
            return false
        case .stallAfterHead:
            try socket.write(head(of: answer, to: request))
            stall()
            return false
        case nil, .resetMidBody, .truncate, .drip:
            return try writeWhole(answer, to: request)
        }
    }

    private func writeWhole(_ answer: LoopbackAnswer, to request: LoopbackRequest) throws -> Bool {
        for status in answer.informational {
            try socket.write(Data("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n\r\n".utf8))
        }
        if case .raw(let bytes) = answer.content {
            try socket.write(bytes)
            return false
        }
        let head = head(of: answer, to: request)
        guard request.method != .head, answer.status.code >= 200, ![204, 304].contains(answer.status.code) else {
            try socket.write(head)
            return !answer.closesConnection
        }
        if case .fixed(let data) = answer.content, answer.fault == nil {
            try socket.write(head + data)  // in one write, as a good server does
            return !answer.closesConnection
        }
        try socket.write(head)
        return try writeBody(of: answer) && !answer.closesConnection
    }

    private func writeBody(of answer: LoopbackAnswer) throws -> Bool {
        switch answer.content {
        case .fixed(let data):
            return try write(data, with: answer.fault)
        case .chunked(let chunks):
            var fault = answer.fault
            for chunk in chunks where !chunk.isEmpty {
                guard try write(chunk: chunk, with: &fault) else { return false }
            }
            if case .truncate = fault { return false }
            if case .resetMidBody = fault { return try write(Data(), with: fault) }
            try socket.write(Data("0\r\n\r\n".utf8))
        case .written(nil, let write):
            try write(LoopbackWriter { [socket] in try socket.write(Self.framed($0)) })
            try socket.write(Data("0\r\n\r\n".utf8))
        case .written(.some, let write):
            try write(LoopbackWriter { [socket] in try socket.write($0) })
        case .raw:
            return false
        }
        return true
    }

    /// Writes a chunk. Faults count the body's bytes, over all chunks and without what frames them.
    private func write(chunk: Data, with fault: inout LoopbackFault?) throws -> Bool {
        let framed = Self.framed(chunk)
        let head = framed.count - chunk.count - 2
        switch fault {
        case .truncate(let count) where count < chunk.count:
            return try write(framed, with: .truncate(after: head + count))
        case .resetMidBody(let count) where count < chunk.count:
            return try write(framed, with: .resetMidBody(after: head + count))
        case .truncate(let count): fault = .truncate(after: count - chunk.count)
        case .resetMidBody(let count): fault = .resetMidBody(after: count - chunk.count)
        default: return try write(framed, with: fault)
        }
        return try write(framed, with: nil)
    }

    private func write(_ data: Data, with fault: LoopbackFault?) throws -> Bool {
        switch fault {
        case .resetMidBody(let count):
            try socket.write(data.prefix(count))
            Thread.sleep(forTimeInterval: 0.02)  // a reset overtakes bytes that the client has not read yet
            socket.resetOnClose()
            return false
        case .truncate(let count):
            try socket.write(data.prefix(count))
            return false
        case .drip(let count, let interval):
            var rest = data
            while !rest.isEmpty, !isStopped() {
                try socket.write(rest.prefix(count))
                rest = Data(rest.dropFirst(count))
                Thread.sleep(forTimeInterval: interval / .seconds(1))
            }
            return true
        default:
            try socket.write(data)
            return true
        }
    }

    private func stall() {
        while !isStopped(), !socket.waitForPeerToLeave(milliseconds: 20) {}
    }

    private func head(of answer: LoopbackAnswer, to request: LoopbackRequest) -> Data {
        var headers = answer.headers
        switch answer.content {
        case .fixed(let data):
            headers[.contentLength] = answer.status == 304 || answer.status == 204 ? nil : "\(data.count)"
        case .written(let length?, _): headers.contentLength = length
        case .chunked, .written(nil, _): headers[.transferEncoding] = "chunked"
        case .raw: break
        }
        if answer.closesConnection { headers[.connection] = "close" }
        let lines =
            ["HTTP/1.1 \(answer.status.code) \(answer.status.reasonPhrase)"] + headers.map { "\($0.name): \($0.value)" }
        return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    private static func framed(_ chunk: Data) -> Data {
        Data(String(chunk.count, radix: 16).utf8) + Data("\r\n".utf8) + chunk + Data("\r\n".utf8)
    }
}
