import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// A case in the manner of curl's own tests: the calls of a client, the bytes of the server, the bytes that the client
/// must have sent, and the result.
///
/// In the texts, `|` stands for CR LF, and `$` for the host and port of the server.
struct WireCase: Sendable, CustomTestStringConvertible {
    /// The result of the last call.
    enum Outcome: Sendable, Equatable {
        case response(Int, String)
        case failure(NetworkError.Kind)
    }

    let name: String
    let calls: [AdHocEndpoint]
    /// The responses, in the order of the requests. After a response that ends with `<close>`, the connection is
    /// closed.
    let replies: [String]
    /// A part of each expected request, which begins with the method.
    let sent: [String]
    let outcome: Outcome
    /// Parts that no request may contain.
    private(set) var absent: [String] = []
    private var exceptions: [Engine: Outcome] = [:]
    /// Whether only `CurlTransport` runs the case, because `URLSession` on Linux depends on the version of libcurl.
    private(set) var isForCurlOnly = false
    private(set) var settings: @Sendable (inout NetworkConfiguration) -> Void = { _ in }

    var testDescription: String { name }

    /// Creates a case.
    ///
    /// - Parameter sent: What the requests must contain. Their number is the number of requests.
    init(
        _ name: String, _ calls: AdHocEndpoint..., replies: [String], sent: [String] = [], _ outcome: Outcome
    ) {
        (self.name, self.calls, self.replies, self.outcome) = (name, calls, replies, outcome)
        self.sent = sent
    }

    static func ok(_ text: String) -> Outcome { .response(200, text) }

    /// Returns the case for a service with other settings.
    func with(_ settings: @escaping @Sendable (inout NetworkConfiguration) -> Void) -> WireCase {
        changed { $0.settings = settings }
    }

    /// Returns the case with texts that no request may contain.
    func without(_ texts: String...) -> WireCase { changed { $0.absent = texts } }

    /// Returns the case with another outcome on `URLSession` of Linux. The row says why.
    func onURLSession(_ outcome: Outcome, row: String) -> WireCase {
        changed { $0.exceptions[.urlSessionOnLinux] = outcome }
    }

    /// The case for `CurlTransport` only.
    var curlOnly: WireCase { changed { $0.isForCurlOnly = true } }

    private func changed(_ change: (inout WireCase) -> Void) -> WireCase {
        var copy = self
        change(&copy)
        return copy
    }

    func outcome(on engine: Engine) -> Outcome { exceptions[engine] ?? outcome }
}

/// The run of a case on an engine.
struct WireRun: Sendable, CustomTestStringConvertible {
    let engine: Engine
    let wire: WireCase

    var testDescription: String { "\(engine.testDescription): \(wire.name)" }

    static func all(_ cases: [WireCase]) -> [WireRun] {
        Engine.allCases.flatMap { engine in
            cases.filter { engine == .curl || !$0.isForCurlOnly }.map { WireRun(engine: engine, wire: $0) }
        }
    }

    func check() async throws {
        let (replies, requests) = (Box(wire.replies), Box<[String]>([]))
        let server = try RawServer { connection in
            while let request = connection.readRequest() {
                requests.change { $0.append(request) }
                guard var reply = replies.change({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
                let closes = reply.hasSuffix("<close>")
                if closes { reply.removeLast("<close>".count) }
                let port = "\(connection.localPort)"
                connection.write(
                    reply.replacingOccurrences(of: "|", with: "\r\n").replacingOccurrences(
                        of: "$", with: "127.0.0.1:\(port)"))
                if closes { return }
            }
        }
        let transport = try engine.make()
        let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
            $0.transport = transport
            $0.settings.timeouts = HTTPRequest.Timeouts(idle: .seconds(4))
            $0.settings.validators = []
            wire.settings(&$0)
        }
        var outcome = WireCase.Outcome.failure(.unknown)
        var text = ""
        for call in wire.calls {
            do {
                let response = try await service.response(call, as: .data).http
                outcome = .response(response.status.code, response.text)
            } catch {
                let cause = (error as? GeneralRequestError)?.cause ?? NetworkError.wrapping(error)
                (outcome, text) = (.failure(cause.kind), "\(error)")
            }
        }
        #expect(outcome == wire.outcome(on: engine), "\(text)")
        let sent = requests.value
        guard outcome == wire.outcome else { return }  // what a limited engine sends says nothing
        if !wire.sent.isEmpty { #expect(sent.count == wire.sent.count, "\(sent)") }
        let host = "127.0.0.1:\(server.url.port ?? 0)"
        for (request, expected) in zip(sent, wire.sent) {
            for part in expected.split(separator: "&&") {
                let text = part.replacingOccurrences(of: "|", with: "\r\n").replacingOccurrences(of: "$", with: host)
                #expect(request.lowercased().contains(text.lowercased()), "\(request)")
            }
        }
        for text in wire.absent {
            #expect(!sent.contains { $0.lowercased().contains(text.lowercased()) }, "\(sent)")
        }
    }
}

extension RawServer.Connection {
    /// Reads a request with its body, whose length `Content-Length` states or whose end is the last chunk. Returns nil
    /// if the client has closed the connection.
    func readRequest() -> String? {
        var text = ""
        var bytes = Data()
        while !text.hasSuffix("\r\n\r\n") {
            let byte = read(1)
            guard byte.count == 1 else { return nil }
            bytes.append(byte)
            if byte[0] == 10 { text = String(decoding: bytes, as: UTF8.self) }
        }
        let fields = text.lowercased()
        if let length = fields.firstMatch(of: /\r\ncontent-length: *(\d+)/).flatMap({ Int($0.output.1) }), length > 0 {
            return text + String(decoding: read(length), as: UTF8.self)
        }
        guard fields.contains("\r\ntransfer-encoding: chunked") else { return text }
        var body = ""
        while !body.hasSuffix("0\r\n\r\n") {
            let byte = read(1)
            guard byte.count == 1 else { return nil }
            body += String(decoding: byte, as: UTF8.self)
        }
        return text + body
    }

    /// The port of the server.
    fileprivate var localPort: Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
