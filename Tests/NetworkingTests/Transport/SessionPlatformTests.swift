import Foundation
@testable import Networking
import Testing

/// Tests the decisions of the engine for Apple platforms, because the code of these platforms does not run on Linux.
@Suite("URLSession platforms")
struct SessionPlatformTests {
    private let file = URL(fileURLWithPath: "/dev/null")

    @Test("On Apple platforms a file is sent as a file, bytes in memory as data, and any other body as a stream")
    func uploads() throws {
        func kind(_ body: HTTPBody) -> String {
            switch SessionUpload(streaming: body) {
            case .data: "data"
            case .file: "file"
            case .stream: "stream"
            }
        }
        let open: @Sendable () throws -> any HTTPBody.Reader = { DataBodyReader(Data("x".utf8)) }
        #expect(kind(.empty) == "data")
        #expect(kind(.string("x")) == "data")
        #expect(kind(.source(length: 1, isReplayable: true, open: open)) == "stream")
        let filed = HTTPBody.source(length: 1, isReplayable: true, pieces: [.file(file)], open: open)
        #expect(kind(filed) == "file")
        let multipart = HTTPBody.source(
            length: 2, isReplayable: true, pieces: [.data(Data()), .file(file)], open: open)
        #expect(kind(multipart) == "stream")
    }

    @Test("On Apple platforms the server is paused after 256 KiB; on Linux the buffer has the whole limit")
    func buffers() {
        let limits = URLSessionTransport.Limits(bufferedBytes: 1 << 20)
        #expect(SessionPlatform.apple.buffers(limits) == (256 << 10, 1 << 20))
        #expect(SessionPlatform.apple.buffers(.init(bufferedBytes: 16 << 20)) == (256 << 10, (16 << 20) - (256 << 10)))
        #expect(SessionPlatform.linux.buffers(limits) == (1 << 20, 0))
        #expect(SessionPlatform.apple.buffers(.init(bufferedBytes: 10)) == (10, 1 << 20))
    }
}

@Suite("Response backlog")
struct ResponseBacklogTests {
    @Test("Chunks are passed on in order while the reader has room, and then the end")
    func order() {
        let ended = Locked(false)
        var backlog = ResponseBacklog(capacity: 10)
        let first = backlog.keep(Data("one".utf8))
        #expect(first == .kept(isFirst: true))
        let second = backlog.keep(Data("two".utf8))
        #expect(second == .kept(isFirst: false))
        backlog.finish { ended.withLock { $0 = true } }
        #expect(backlog.isHeldBack && !ended.withLock { $0 })
        var read: [String] = []
        var room = 1
        func offer(_ chunk: Data) -> Bool {
            guard room > 0 else { return false }
            room -= 1
            read.append(String(decoding: chunk, as: UTF8.self))
            return true
        }
        let wasDrained = backlog.drain(offer)
        #expect(!wasDrained)
        #expect(read == ["one"] && !ended.withLock { $0 })
        room = 5
        let isDrained = backlog.drain(offer)
        #expect(isDrained)
        #expect(read == ["one", "two"] && ended.withLock { $0 })
        #expect(!backlog.isHeldBack)
    }

    @Test("Data beyond the capacity is refused, and drained data makes room")
    func capacity() {
        var backlog = ResponseBacklog(capacity: 4)
        let kept = backlog.keep(Data(count: 3))
        #expect(kept == .kept(isFirst: true))
        let refused = backlog.keep(Data(count: 2))
        #expect(refused == .tooMany)
        let isDrained = backlog.drain { _ in true }
        #expect(isDrained)
        let keptLater = backlog.keep(Data(count: 4))
        #expect(keptLater == .kept(isFirst: true))
    }

    @Test("Without chunks the end is passed on at once; after a removal it is never passed on")
    func end() {
        let ends = Locked(0)
        var backlog = ResponseBacklog(capacity: 4)
        backlog.finish { ends.withLock { $0 += 1 } }
        #expect(ends.withLock { $0 } == 1)
        _ = backlog.keep(Data(count: 1))
        backlog.finish { ends.withLock { $0 += 1 } }
        backlog.removeAll()
        let isDrained = backlog.drain { _ in true }
        #expect(isDrained)
        #expect(ends.withLock { $0 } == 1)
    }
}

@Suite("Streamed upload")
struct StreamedUploadTests {
    /// A body that returns its pieces one after another. For a nil piece it has no bytes yet.
    private final class PieceReader: HTTPBody.Reader, @unchecked Sendable {  // because one test reads at a time
        private var pieces: [String?]
        let closings = Locked(0)

        init(_ pieces: [String?]) {
            self.pieces = pieces
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> HTTPBody.ReadResult {
            guard !pieces.isEmpty else { return .end }
            guard let piece = pieces.removeFirst() else { return .notYet }
            buffer.copyBytes(from: piece.utf8)
            return .bytes(piece.utf8.count)
        }

        func close() { closings.withLock { $0 += 1 } }
    }

    private func request(_ reader: PieceReader, length: Int? = nil) throws -> HTTPRequest {
        let url = try #require(URL(string: "http://127.0.0.1/"))
        return HTTPRequest(
            .post, url, body: .source(length: length, isReplayable: false, contentType: nil) { reader })
    }

    @Test("The bytes are written in order, in portions for which the stream has room")
    func portions() throws {
        let reader = PieceReader(["abc", nil, "defgh"])
        var upload = try StreamedUpload(request(reader, length: 8)) {}
        var written = ""
        var room = 2
        func write(_ bytes: UnsafeRawBufferPointer) -> Int {
            let count = min(room, bytes.count)
            room -= count
            written += String(decoding: bytes.prefix(count), as: UTF8.self)
            return count
        }
        let full = try upload.run(write)
        #expect(full == .waiting)
        #expect(written == "ab")
        room = 100
        let early = try upload.run(write)
        #expect(early == .waiting)  // the body has nothing yet
        #expect(written == "abc")
        let last = try upload.run(write)
        #expect(last == .finished)
        #expect(written == "abcdefgh")
        upload.close()
        upload.close()
        #expect(reader.closings.withLock { $0 } == 1)
    }

    @Test(
        "A body that is shorter or longer than its length is an error, not a truncated request",
        arguments: [7, 9])
    func length(_ length: Int) throws {
        var upload = try StreamedUpload(request(PieceReader(["abc", "defgh"]), length: length)) {}
        var kind: NetworkError.Kind?
        do { while try upload.run({ $0.count }) != .finished {} } catch { kind = error.kind }
        #expect(kind == .bodyUnreadable)
    }
}

@Suite("Public key pins")
struct PublicKeyPinTests {
    // Created with openssl: the keys as Apple's Security framework exports them, and the digests of the output of
    // `openssl pkey -pubin`.
    private static let rsa =
        "MIIBCgKCAQEAtAt0+PQHeOX1dza8DpikDjZGnJOxomdGblLzVhRLWUzsbmBfVnourhUeNFNMwATRXy72rWx6P5xoCh7JMsLvrzdq6vqJ8+H7p7gUbJl9"
        + "vymf2effMwujdOxJMH4Kd+jZU9TWOmVf+yXYCk7iEuTxTeySkFwTLGYGnlDfcACyfuJdjVkinr7YIdUY4QazN2LaTpBLVM4dh9L+hRKECiQBP3bjwdhF"
        + "N4uoyxtR0AzlKtSH62v+goTY97boRv3M+infytKtY43g/vRQMODHl6wYjteQ6WpxvY79ey+WclNFBDywldNJMMRG0auetBFBI5L/uwTTVJYiD5HHIgEE"
        + "+K/EfQIDAQAB"
    private static let curves: [(bits: Int, key: String, pin: String)] = [
        (
            256, "BHCoC2B4Ka5DQtqfdXWAt83WRdoKn21DSvfZssSxV69yP366PCmku+wjFyC1oUhldHpHD85G/G+UodqZhGYK1Q8=",
            "0+r5wZ/7Kc821c8DDfTvvbxleIc1eMhYdtodRIgRm2A="
        ),
        (
            384,
            "BFxt3QJ3J27kNJi5+RdhsW97cTJ/rEm6b9QS+lkK/oexY8d46moibD2gq352EdMkvlxBCOp14Ei/u8JYUSkj2XKOKm0fYl9cg0XdkohqIyDnuvoe"
                + "bcKx4N9KxqER1X+AWA==",
            "junzwz3QHmXL9mIjTWbtS2i/DWnJwhGn3dOrqSkdldE="
        ),
        (
            521,
            "BAHpS2kJL5rSwE51Cpui0BOc0HDHuV2lGS6tylMivhlpcBbNXwzbmoqjDMB0+cuQas3XXhuhgEYE9IrhWFTH7/wo1ABEW8Jgr5Uvm7FNzsLlJPvH"
                + "wJq96fmAL3+y6PBET6twEyu4xKw+nz7ytxMeQruknVfxLIAEetnS5fjdQQzaAvpZ2A==",
            "qYRXs+y0ihH+n0kNxzWKzwV9rpLng52y0QSE1hUpWVw="
        ),
    ]

    @Test("The pin of a key that Apple's Security framework exports equals the pin that openssl computes")
    func exported() throws {
        let rsa = try #require(Data(base64Encoded: Self.rsa))
        #expect(try TLSConfiguration.Pin(.rsa(rsa))?.base64 == "v4CtBhS6UFEgrye+0pj8xK/cCn510egrF9RZzCZrDVg=")
        for (bits, key, pin) in Self.curves {
            let point = try #require(Data(base64Encoded: key))
            #expect(try TLSConfiguration.Pin(.curve(point, bits: bits))?.base64 == pin, "\(bits)")
        }
        #expect(try TLSConfiguration.Pin(.curve(Data(count: 65), bits: 255)) == nil)
    }

    @Test("The certificates of a PEM file are read, whatever else the file contains")
    func authorities() throws {
        let one = Data("one".utf8).base64EncodedString()
        let text = """
            a comment
            -----BEGIN CERTIFICATE-----\r\n\(one)\r\n-----END CERTIFICATE-----
            -----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----
            -----BEGIN CERTIFICATE-----
            \(Data("two".utf8).base64EncodedString())
            -----END CERTIFICATE-----
            """
        let tls = TLSConfiguration(trust: .pem(Data(text.utf8)))
        #expect(try tls.authorities == [Data("one".utf8), Data("two".utf8)])
        #expect(try TLSConfiguration().authorities == nil)
        #expect(throws: NetworkError.self) {
            try TLSConfiguration(trust: .pem(Data("-----BEGIN PRIVATE KEY-----".utf8))).authorities
        }
    }

    @Test("A TLS part that cannot be read is an error that names the part")
    func unreadable() {
        let wrong: [(String, TLSConfiguration)] = [
            ("tls.trust", TLSConfiguration(trust: .pem(Data("no PEM".utf8)))),
            ("tls.trust", TLSConfiguration(trust: .file(URL(fileURLWithPath: "/no/such/file")))),
            (
                "tls.clientCertificate",
                TLSConfiguration(clientCertificate: .init(pkcs12: Data("x".utf8), passphrase: ""))
            ),
            (
                "tls.clientCertificate",
                TLSConfiguration(clientCertificate: .init(certificate: URL(fileURLWithPath: "/dev/null")))
            ),
        ]
        for (part, tls) in wrong {
            let error = #expect(throws: NetworkError.self) { _ = try URLSessionTransport(tls: tls) }
            #expect(error?.kind == .invalidRequest)
            #expect(error?.description.hasPrefix(part + ":") == true, "\(String(describing: error))")
        }
    }

    #if os(Linux)
        @Test("URLSession on Linux refuses every TLS setting when it is created, and names the other engine")
        func refused() {
            let pin = TLSConfiguration.Pin(Data(count: 32).base64EncodedString())
            for tls in [TLSConfiguration(minimumVersion: .v1_3), TLSConfiguration(pins: [pin].compactMap { $0 })] {
                let error = #expect(throws: NetworkError.self) { _ = try URLSessionTransport(tls: tls) }
                #expect(error?.kind == .invalidRequest)
                #expect(error?.description.contains("CurlTransport") == true)
            }
        }
    #endif

    @Test("No text of a client certificate shows its passphrase")
    func passphrase() {
        let certificate = TLSConfiguration.ClientCertificate(pkcs12: Data([0x30]), passphrase: "hunter2")
        var text = "\(certificate) \(TLSConfiguration(clientCertificate: certificate))"
        dump(certificate, to: &text)
        #expect(!text.contains("hunter2"))
    }
}
