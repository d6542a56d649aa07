import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("The handshake of a WebSocket", .endsInTime)
struct WebSocketHandshakeTests {
    /// The key, and its answer, of RFC 6455 section 1.3.
    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    private static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    private func handshake(_ subprotocols: [String] = ["chat", "superchat"], compresses: Bool = true)
        -> WebSocketHandshake
    {
        WebSocketHandshake(for: WebSocketOrder(subprotocols: subprotocols, compresses: compresses), key: Self.key)
    }

    private static var valid: HTTPHeaders {
        ["Upgrade": "WebSocket", "Connection": "keep-alive, Upgrade", "Sec-WebSocket-Accept": accept]
    }

    @Test("SHA-1 is that of RFC 3174, for texts around the size of a block")
    func sha1() {
        func hex(_ text: String) -> String { SHA1Digest.of(text).map { String(format: "%02x", $0) }.joined() }
        #expect(hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "84983e441c3bd26ebaae4aa1f95129e5e54670f1")
        #expect(hex(String(repeating: "a", count: 63)) == "03f09f5b158a7a8cdad920bddc29b81c18a551f5")
        #expect(hex(String(repeating: "a", count: 64)) == "0098ba824b5c16427bd7a1122a5a442a25ec644d")
        #expect(WebSocketHandshake.accept(for: Self.key) == Self.accept)
    }

    static let faultCases: [(field: String, value: String?, text: String)] = [
        ("Upgrade", nil, "Upgrade: expected websocket, found none"), ("Upgrade", "h2c", "found h2c"),
        ("Upgrade", "websocket, h2c", "found websocket, h2c"), ("Connection", nil, "Connection: expected Upgrade"),
        ("Connection", "close", "found close"), ("Sec-WebSocket-Accept", nil, "found none"),
        ("Sec-WebSocket-Accept", "wrong\u{1B}[31m", "Sec-WebSocket-Accept: expected s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
        ("Sec-WebSocket-Protocol", "other", "expected chat or superchat, found other"),
        ("Sec-WebSocket-Protocol", "Chat", "found Chat"), ("Sec-WebSocket-Extensions", "x-unknown", "found x-unknown"),
        ("Sec-WebSocket-Extensions", "permessage-deflate; x", "found permessage-deflate; x"),
        ("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits", "valid permessage-deflate"),
        ("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits=7", "bits=7"),
        ("Sec-WebSocket-Extensions", "permessage-deflate; server_max_window_bits=16", "bits=16"),
        ("Sec-WebSocket-Extensions", "permessage-deflate; server_max_window_bits=08", "bits=08"),
        ("Sec-WebSocket-Extensions", "permessage-deflate; client_no_context_takeover=1", "takeover=1"),
        (
            "Sec-WebSocket-Extensions", "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
            "expected valid"
        ),
        ("Sec-WebSocket-Extensions", "permessage-deflate, permessage-deflate", "expected valid"),
    ]

    @Test("A 101 that is no answer to the handshake is a fault that names the field", arguments: faultCases.indices)
    func faults(index: Int) {
        let (field, value, text) = Self.faultCases[index]
        var headers = Self.valid
        headers[HTTPHeader.Name(field)] = value
        let fault = #expect(throws: WebSocketFault.self) { try handshake().agreement(with: headers) }
        #expect(fault?.code == .protocolError)
        #if os(Linux)
            #expect(fault?.reason.contains(text) == true, "\(fault?.reason ?? "")")
        #endif
        #expect(fault?.reason.contains("\u{1B}") == false)
    }

    @Test("What was not offered is refused")
    func notOffered() {
        var headers = Self.valid
        headers["Sec-WebSocket-Protocol"] = "chat"
        #expect(throws: WebSocketFault.self) { try handshake([]).agreement(with: headers) }
        headers = Self.valid
        headers["Sec-WebSocket-Extensions"] = "permessage-deflate"
        #expect(throws: WebSocketFault.self) { try handshake(compresses: false).agreement(with: headers) }
    }

    #if os(Linux)
        @Test("What both sides agree on is read")
        func agreement() throws {
            #expect(try handshake().agreement(with: Self.valid) == WebSocketHandshake.Agreement())
            var headers = Self.valid
            headers["Sec-WebSocket-Protocol"] = "superchat"
            headers["Sec-WebSocket-Extensions"] =
                "permessage-deflate; server_no_context_takeover; client_max_window_bits=\"10\"; server_max_window_bits=8"
            var expected = WebSocketHandshake.Agreement()
            expected.subprotocol = "superchat"
            expected.compression = WebSocketHandshake.Compression()
            expected.compression?.serverKeepsContext = false
            expected.compression?.clientWindowBits = 10
            #expect(try handshake().agreement(with: headers) == expected)
        }
    #endif

    @Test("The head of the request has the fields of the call and those of the handshake")
    func head() throws {
        let url = try #require(URL(string: "https://example.com/a%20b?q=1"))
        let request = HTTPRequest(.get, url, headers: ["X-App": "1"])
        let head = String(decoding: handshake().head(of: request), as: UTF8.self)
        let lines = head.components(separatedBy: "\r\n")
        #expect(lines.first == "GET /a%20b?q=1 HTTP/1.1")
        for line in [
            "Host: example.com", "X-App: 1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: \(Self.key)", "Sec-WebSocket-Protocol: chat, superchat",
        ] { #expect(lines.contains(line), "\(line)") }
        #expect(head.hasSuffix("\r\n\r\n"))
        #expect(WebSocketHandshake(for: WebSocketOrder()).fields != WebSocketHandshake(for: WebSocketOrder()).fields)
    }

    @Test("A request that can be no handshake is refused before anything is sent")
    func requests() throws {
        let url = try #require(URL(string: "https://example.com/"))
        for request in [
            HTTPRequest(.post, url), HTTPRequest(.get, url, body: .string("x")),
            HTTPRequest(.get, url, headers: ["sec-websocket-key": "x"]),
            HTTPRequest(.get, url, headers: ["Connection": "close"]),
        ] {
            let error = #expect(throws: NetworkError.self) { try request.validateHandshake() }
            #expect(error?.kind == .invalidRequest)
        }
        for name in ["", "a b", "a\r\nX-Injected: 1", "grün"] {
            var request = HTTPRequest(.get, url)
            request.parts[WebSocketOrder.self] = WebSocketOrder(subprotocols: ["v1", name])
            let error = #expect(throws: NetworkError.self) { try request.validateHandshake() }
            #expect(error?.kind == .invalidRequest && error?.reason?.contains("expected a token") == true)
        }
    }

    private func read(_ text: String, piece: Int) throws -> (status: Int?, body: String, isEnded: Bool, rest: String) {
        var response = WebSocketResponse(to: .get, headLimit: 1_000)
        var (status, body, isEnded, rest) = (Int?.none, Data(), false, "")
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let part = Array(bytes.prefix(piece))
            bytes = bytes.dropFirst(part.count)
            try part.withUnsafeBytes { buffer in
                var input = buffer
                while let event = try response.next(&input) {
                    switch event {
                    case .head(let head): status = head.status.code
                    case .body(let more): body.append(contentsOf: more)
                    case .end: isEnded = true
                    }
                }
                rest += String(decoding: input, as: UTF8.self)
            }
        }
        if let error = response.errorAtClosure() { throw error }
        return (status, String(decoding: body, as: UTF8.self), isEnded, rest)
    }

    @Test(
        "A refusal's body ends as HTTP says, however its bytes arrive; what follows a 101 is left",
        arguments: [1, 3, 99])
    func refusals(piece: Int) throws {
        let head = "HTTP/1.1 403 No\r\nX: y\r\n"
        #expect(try read(head + "Content-Length: 3\r\n\r\nabcdef", piece: piece).body == "abc")
        #expect(try read(head + "\r\nabc", piece: piece).body == "abc")
        let chunked = try read(
            head + "Transfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n1\r\nc\r\n0\r\nT: 1\r\n\r\n", piece: piece)
        #expect(chunked.body == "abc")
        #expect(chunked.isEnded)
        #expect(try read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 None\r\n\r\n", piece: piece).status == 204)
        let open = try read("HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\nfirst", piece: piece)
        #expect(open.status == 101)
        #expect(open.rest == "first")
        for (text, kind) in [
            (head + "Content-Length: 9\r\n\r\nabc", NetworkError.Kind.truncatedBody),
            (head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", .malformedResponse),
            (head + "Transfer-Encoding: gzip\r\n\r\nzz\r\n", .malformedResponse),
            (head + "Content-Length: x\r\n\r\n", .malformedResponse), ("HTTP/1.1 40", .connectionLostBeforeHead),
            ("SSH-2.0-x\r\n", .malformedResponse), (head + String(repeating: "x", count: 1_001), .responseTooLarge),
        ] {
            let error = #expect(throws: NetworkError.self) { try read(text, piece: piece) }
            #expect(error?.kind == kind, "\(text.prefix(60))")
        }
    }
}
