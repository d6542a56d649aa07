import Foundation
@testable import Networking
import Testing

/// Tests the decisions of the engine on Apple platforms. These tests also run on Linux, where the engine's other code
/// cannot run.
@Suite("URLSession platforms", .endsInTime)
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
        let filed = HTTPBody(.source(.init(length: 1, isReplayable: true, pieces: [.file(file)], open: open)))
        #expect(kind(filed) == "file")
        let multipart = HTTPBody(
            .source(.init(length: 2, isReplayable: true, pieces: [.data(Data()), .file(file)], open: open)))
        #expect(kind(multipart) == "stream")
    }

    @Test("On Apple platforms the server must pause after 256 KiB; on Linux the buffer can grow to the whole limit")
    func buffers() {
        let limits = URLSessionTransport.Limits(bufferedBytes: 1 << 20)
        #expect(SessionPlatform.apple.buffers(limits) == (256 << 10, 1 << 20))
        #expect(SessionPlatform.apple.buffers(.init(bufferedBytes: 16 << 20)) == (256 << 10, (16 << 20) - (256 << 10)))
        #expect(SessionPlatform.linux.buffers(limits) == (1 << 20, 0))
        #expect(SessionPlatform.apple.buffers(.init(bufferedBytes: 10)) == (10, 1 << 20))
    }
}
