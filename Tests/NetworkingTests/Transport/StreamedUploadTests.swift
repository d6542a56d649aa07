import Foundation
@testable import Networking
import Testing

@Suite("Streamed upload", .endsInTime)
struct StreamedUploadTests {
    /// A body that returns its pieces one after another. For a nil piece, the body returns `notYet`.
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
        #expect(early == .waiting)  // the body has no bytes yet
        #expect(written == "abc")
        let last = try upload.run(write)
        #expect(last == .finished)
        #expect(written == "abcdefgh")
        upload.close()
        upload.close()
        #expect(reader.closings.withLock { $0 } == 1)
    }

    @Test(
        "A body that is shorter or longer than its declared length is an error, not a truncated request",
        arguments: [7, 9])
    func length(_ length: Int) throws {
        var upload = try StreamedUpload(request(PieceReader(["abc", "defgh"]), length: length)) {}
        var kind: NetworkError.Kind?
        do { while try upload.run({ $0.count }) != .finished {} } catch { kind = error.kind }
        #expect(kind == .bodyUnreadable)
    }
}
