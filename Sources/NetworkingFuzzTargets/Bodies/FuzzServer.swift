import Foundation
import NetworkingServer

/// A server on 127.0.0.1 that reads one request on each connection, and writes the prepared bytes.
final class FuzzServer: @unchecked Sendable {  // because of the lock around every variable
    let url: URL
    private let lock = NSLock()
    private var response: [UInt8] = []
    private var requests: [[UInt8]] = []

    init() throws {
        let listener = try LoopbackSocket.listening(on: 0)
        guard let url = URL(string: "http://127.0.0.1:\(try listener.port())/a") else {
            throw FuzzViolation(rule: "the server has no URL")
        }
        self.url = url
        Thread.detachNewThread { [self] in
            while let socket = listener.accepted() {
                serve(socket)
                socket.release()
            }
        }
    }

    /// Sets the bytes to write, and forgets the requests so far.
    func prepare(_ response: [UInt8]) {
        lock.withLock { (self.response, requests) = (response, []) }
    }

    /// The requests that the server has read since ``prepare(_:)``. Each consists of the head, and as many body bytes
    /// as its `Content-Length` says.
    var received: [[UInt8]] { lock.withLock { requests } }

    private func serve(_ socket: LoopbackSocket) {
        var bytes = Data()
        let end = Data("\r\n\r\n".utf8)
        var length: Int?
        while length.map({ bytes.count < $0 }) ?? true {
            guard let more = socket.read() else { break }
            bytes += more
            if length == nil, let head = bytes.range(of: end) {
                length = head.upperBound + FuzzServer.contentLength(bytes[..<head.upperBound])
            }
        }
        guard !bytes.isEmpty else { return }
        let response = lock.withLock {
            requests.append([UInt8](bytes))
            return self.response
        }
        try? socket.write(Data(response))
    }

    private static func contentLength(_ head: Data) -> Int {
        let name = Data("\r\nContent-Length: ".utf8)
        guard let field = head.range(of: name) else { return 0 }
        let digits = head[field.upperBound...].prefix { $0 >= 0x30 && $0 <= 0x39 }
        return Int(String(decoding: digits, as: UTF8.self)) ?? 0
    }
}
