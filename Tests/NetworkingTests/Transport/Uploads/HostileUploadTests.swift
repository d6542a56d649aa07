import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Hostile servers of uploads", .endsInTime)
struct HostileUploadTests {
    @Test(
        "A Location that cannot be used ends the call",
        arguments: [
            nil, "http://api.example.com/uploads/1", "ftp://api.example.com/1", "https:///1", "",
            "https://api.example.com/films",
            "https://api.example.com/" + String(repeating: "a", count: 70_000),
        ])
    func locations(location: String?) async throws {
        let fixture = try UploadFixture()
        var response = StubResponse(.created, headers: ["Tus-Resumable": "1.0.0"])
        response.headers[.location] = location
        fixture.server.order(.post, .respond(response))
        let error = await #expect(throws: NetworkError.self) { try await fixture.upload() }
        #expect(error?.kind == .uploadRefused && "\(error as Any)".contains("Location"))
        #expect(fixture.notes.isEmpty && fixture.server.patches.isEmpty)
    }

    @Test(
        "An offset that cannot be right ends the call",
        arguments: ["100001", "-1", "1e3", "99999999999999999999", "0x10", ""])
    func offsets(offset: String) async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .cut(after: 40_000))
        await #expect(throws: NetworkError.self) { try await fixture.upload() }
        fixture.server.order(.head, .claim(offset))
        await #expect { try await fixture.upload() } throws: {
            ($0 as? NetworkError)?.kind == .uploadRefused && "\($0)".contains("Upload-Offset")
        }
        try await fixture.upload()
        #expect(fixture.server.complete == [fixture.content])
    }

    @Test("An offset beyond what was sent ends the call, and so do servers that take hardly anything")
    func slow() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .claim("100000000"))
        await #expect { try await fixture.upload() } throws: { ($0 as? NetworkError)?.kind == .uploadRefused }
        for (count, reason) in [(0, "none of the bytes"), (1, "only a few bytes")] {
            let other = try UploadFixture()
            for _ in 0..<1_000 { other.server.order(.patch, .take(count)) }
            await #expect { try await other.upload() } throws: {
                ($0 as? NetworkError)?.kind == .uploadRefused && "\($0)".contains(reason)
            }
            #expect(other.server.patches.count < 200 && other.server.received < 100 * 65_536)
            other.server.change { $0.orders = [:] }
            try await other.upload()
            #expect(other.server.complete == [other.content])
        }
    }

    @Test("A server that takes less than it gets is followed")
    func capped() async throws {
        let fixture = try UploadFixture(size: 1_000_000)
        for _ in 0..<50 { fixture.server.order(.patch, .take(20_000)) }
        try await fixture.upload()
        #expect(fixture.server.complete == [fixture.content] && fixture.server.patches.count == 50)
        #expect(fixture.server.received < 5_000_000, "after the first request, hardly more is sent than is taken")
    }

    @Test("A server that refuses each offset that it has named ends the call")
    func endlessConflict() async throws {
        let fixture = try UploadFixture()
        for _ in 0..<100 { fixture.server.order(.patch, .respond(StubResponse(.conflict))) }
        await #expect { try await fixture.upload() } throws: {
            ($0 as? NetworkError)?.kind == .uploadRefused && "\($0)".contains("none of the bytes")
        }
        #expect(fixture.server.patches.isEmpty && fixture.server.stub.requests.count < 30)
    }

    @Test("If the server still works on an earlier request, the retry policy asks again later")
    func locked() async throws {
        let fixture = try UploadFixture()
        let locked = StubResponse(HTTPStatus(423))
        fixture.server.order(.patch, .cut(after: 40_000))
        fixture.server.order(.head, .respond(locked), .respond(locked))
        await #expect { try await fixture.upload() } throws: {
            ($0 as? NetworkError)?.kind == .connectionLostBeforeHead
        }
        await #expect { try await fixture.upload() } throws: {
            ($0 as? NetworkError)?.kind == .notProcessed && "\($0)".contains("earlier request of the upload")
        }
        try await fixture.upload(by: fixture.service { $0.retry = RetryPolicy(retries: 1, backoff: .constant(.zero)) })
        #expect(fixture.server.complete == [fixture.content] && fixture.server.uploads.count == 1)
    }

    @Test(
        "The call ends with any other status, and the next call continues the upload",
        arguments: [400, 403, 413, 412, 500, 503])
    func statuses(code: Int) async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .cut(after: 40_000), .respond(StubResponse(HTTPStatus(code))))
        for _ in 0..<2 { await #expect(throws: (any Error).self) { try await fixture.upload() } }
        try await fixture.upload()
        #expect(fixture.server.complete == [fixture.content] && fixture.server.uploads.count == 1)
    }

    @Test("If the server says 403 about an upload that may be complete, nothing is sent again")
    func forbidden() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .loseResponse)
        await #expect(throws: NetworkError.self) { try await fixture.upload() }
        fixture.server.order(.head, .respond(StubResponse(.forbidden)))
        await #expect(throws: (any Error).self) { try await fixture.upload() }
        try await fixture.upload()
        #expect(fixture.server.complete == [fixture.content] && fixture.server.uploads.count == 1)
    }

    @Test("If the server does not know the upload, or knows one of another length, it begins again")
    func unknown() async throws {
        let other = StubResponse(
            .ok, headers: ["Tus-Resumable": "1.0.0", "Upload-Offset": "40000", "Upload-Length": "40001"])
        for response in [StubResponse(.gone), StubResponse(.notFound), StubResponse(.forbidden), other] {
            let fixture = try UploadFixture()
            fixture.server.order(.patch, .cut(after: 40_000))
            await #expect(throws: NetworkError.self) { try await fixture.upload(.tus(partSize: 50_000)) }
            fixture.server.order(.head, .respond(response))
            try await fixture.upload()
            #expect(fixture.server.complete == [fixture.content] && fixture.notes.isEmpty, "\(response.status)")
        }
    }

    @Test("A version of tus that is not 1.0 ends the call, and the error says which it is")
    func version() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.options, .respond(StubResponse(.noContent, headers: ["Tus-Version": "2.0.0"])))
        await #expect { try await fixture.upload() } throws: {
            ($0 as? NetworkError)?.kind == .uploadRefused && "\($0)".contains("found 2.0.0")
        }
        #expect(fixture.server.methods == ["OPTIONS"] && fixture.notes.isEmpty)
    }

    @Test(
        "If a response does not say what has arrived, the server is asked; bytes with another sum are sent again once")
    func askedAgain() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(
            .patch, .respond(StubResponse(.noContent)), .respond(StubResponse(HTTPStatus(460))))
        await #expect { try await fixture.upload(.tus(partSize: 60_000)) } throws: {
            ($0 as? NetworkError)?.kind == .uploadRefused && "\($0)".contains("none of the bytes")
        }
        fixture.server.order(.patch, .respond(StubResponse(HTTPStatus(460))))
        try await fixture.upload(.tus(partSize: 60_000))
        #expect(fixture.server.complete == [fixture.content])
        #expect(
            fixture.server.methods == [
                "OPTIONS", "POST", "PATCH", "HEAD", "PATCH", "HEAD", "HEAD", "PATCH", "HEAD", "PATCH", "PATCH",
            ])
    }

    @Test(
        "An upload that the server cannot end is given up; one that it refuses to end is not",
        arguments: [403, 405, 501])
    func notEnded(code: Int) async throws {
        let fixture = try UploadFixture()
        let session = AccessTokenSupervisor(
            token: AccessToken("1"), unauthorizedStatuses: [.unauthorized, .forbidden],
            clock: fixture.clock.networkClock
        ) { _ in AccessToken("2") }
        let service = code == 403 ? fixture.service(authorizedBy: session) : fixture.service()
        fixture.server.order(.patch, .cut(after: 40_000))
        await #expect(throws: (any Error).self) { try await fixture.upload(by: service) }
        fixture.server.order(
            .delete, .respond(StubResponse(HTTPStatus(423))), .respond(StubResponse(HTTPStatus(code))))
        await #expect(throws: (any Error).self) {
            try await service.discardUpload(of: TapeEndpoint(file: fixture.file))
        }
        #expect(fixture.notes == [".film.mp4.upload"])
        _ = try? await service.discardUpload(of: TapeEndpoint(file: fixture.file))
        #expect(fixture.notes.isEmpty)
        #expect(fixture.server.uploads.isEmpty == (code == 403), "after the refresh, the server has ended it")
    }

    @Test("A server cannot have bytes that were never sent")
    func lies() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .respond(StubResponse(.conflict)))
        fixture.server.order(.head, .claim("100000"))
        await #expect { try await fixture.upload(.tus(partSize: 10_000)) } throws: {
            ($0 as? NetworkError)?.kind == .uploadRefused && "\($0)".contains("from 0 to 99999")
        }
        #expect(fixture.server.complete.isEmpty)
    }

    @Test("An upload that the server forgets after it has taken only a part of it begins again")
    func forgottenPart() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .take(30_000), .forget)
        try await fixture.upload()
        #expect(fixture.server.complete == [fixture.content])
    }

    @Test("A part may be larger than any file")
    func largestPart() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .cut(after: 40_000), .take(10_000))
        try? await fixture.upload(.tus(partSize: .max))
        try await fixture.upload(.tus(partSize: .max))
        #expect(fixture.server.complete == [fixture.content])
    }

    @Test("A pipe in place of the file is an error, also if its sum is needed first")
    func pipe() async throws {
        let fixture = try UploadFixture(size: 25)
        let stub = StubTransport()
        stub.on(nil, nil) { [server = fixture.server, file = fixture.file] request in
            let response = try await server.stub.send(request, delivering: .buffered(limit: 1_000))
            if request.method == .patch {
                try FileManager.default.removeItem(at: file)
                mkfifo(file.path, 0o600)
            }
            return StubResponse(response.status, headers: response.headers, body: response.data)
        }
        let service = fixture.service { $0.transport = stub }
        await #expect { try await fixture.upload(.tus(partSize: 10), by: service) } throws: {
            ($0 as? NetworkError)?.kind == .bodyUnreadable
        }
    }
}
