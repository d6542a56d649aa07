import Foundation
import Networking
import NetworkingServer

/// A writer that sends responses, with their failures, on a connection. Its methods block the thread.
struct LoopbackResponseWriter {
    let socket: LoopbackSocket
    let isStopped: @Sendable () -> Bool
    /// The bytes that have arrived after the request.
    let unread: Data

    /// Writes a response, and simulates its failure.
    ///
    /// - Returns: Whether the connection can be used for another request.
    func write(_ answer: LoopbackResponse, to request: LoopbackRequest) throws -> Bool {
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

    private func writeWhole(_ answer: LoopbackResponse, to request: LoopbackRequest) throws -> Bool {
        for status in answer.informational {
            try socket.write(Data("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n\r\n".utf8))
        }
        if case .raw(let bytes) = answer.content {
            try socket.write(bytes)
            return false
        }
        if case .webSocket(let compresses, let serve) = answer.content {
            let compresses = compresses && request.offersCompression
            var answer = answer
            answer.headers.merge(request.webSocketFields(compressing: compresses), .keepExisting)
            try socket.write(head(of: answer, to: request))
            try serve(LoopbackWebSocket(socket, after: unread, compressing: compresses))
            return false
        }
        let head = head(of: answer, to: request)
        guard request.method != .head, answer.status.code >= 200, ![204, 304].contains(answer.status.code) else {
            try socket.write(head)
            return !answer.closesConnection
        }
        if case .fixed(let data) = answer.content, answer.fault == nil {
            try socket.write(head + data)  // in one write, as common servers do
            return !answer.closesConnection
        }
        try socket.write(head)
        return try writeBody(of: answer) && !answer.closesConnection
    }

    private func writeBody(of answer: LoopbackResponse) throws -> Bool {
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
        case .raw, .webSocket:
            return false
        }
        return true
    }

    /// Writes a chunk. The byte count of a fault includes the content of all chunks, but not their framing.
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
            Thread.sleep(forTimeInterval: 0.02)  // a reset discards bytes that the client has not read yet
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

    private func head(of answer: LoopbackResponse, to request: LoopbackRequest) -> Data {
        var headers = answer.headers
        switch answer.content {
        case .fixed(let data):
            headers[.contentLength] = answer.status == 304 || answer.status == 204 ? nil : "\(data.count)"
        case .written(let length?, _): headers.contentLength = length
        case .chunked, .written(nil, _): headers["Transfer-Encoding"] = "chunked"
        case .raw, .webSocket: break
        }
        if answer.closesConnection { headers["Connection"] = "close" }
        let lines =
            ["HTTP/1.1 \(answer.status.code) \(answer.status.reasonPhrase)"] + headers.map { "\($0.name): \($0.value)" }
        return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    private static func framed(_ chunk: Data) -> Data {
        Data(String(chunk.count, radix: 16).utf8) + Data("\r\n".utf8) + chunk + Data("\r\n".utf8)
    }
}
