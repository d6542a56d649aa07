import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Notes of uploads", .endsInTime)
struct UploadNoteTests {
    @Test("An upload goes on also if the server was to forget it by now, because only the server knows")
    func expired() async throws {
        let fixture = try UploadFixture()
        fixture.server.change { $0.expires = "Tue, 14 Nov 2023 23:13:20 GMT" }
        fixture.server.order(.patch, .cut(after: 40_000))
        await #expect(throws: NetworkError.self) { try await fixture.upload() }
        fixture.clock.advance(by: .seconds(3_601))
        try await fixture.upload()
        #expect(fixture.server.complete == [fixture.content] && fixture.server.uploads.count == 1)
    }

    @Test("If a file has changed, its upload begins again once the server has forgotten it, unless it may be complete")
    func changedAndExpired() async throws {
        let fixture = try UploadFixture()
        fixture.server.change { $0.expires = "Tue, 14 Nov 2023 23:13:20 GMT" }
        fixture.server.order(.patch, .cut(after: 40_000))
        await #expect(throws: NetworkError.self) { try await fixture.upload(.tus(partSize: 50_000)) }
        let other = Data(repeating: 1, count: fixture.content.count)
        try other.write(to: fixture.file)
        await #expect { try await fixture.upload() } throws: { ($0 as? NetworkError)?.kind == .bodyUnreadable }
        fixture.clock.advance(by: .seconds(3_601))
        try await fixture.upload()
        #expect(fixture.server.complete == [other], "the bytes of the old file are in no complete upload")
        fixture.server.order(.patch, .loseResponse)
        await #expect(throws: NetworkError.self) { try await fixture.upload() }
        try fixture.content.write(to: fixture.file)
        await #expect { try await fixture.upload() } throws: { ($0 as? NetworkError)?.kind == .bodyUnreadable }
    }

    @Test("A file that has changed is an error, until its upload is discarded")
    func changed() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .cut(after: 60_000))
        await #expect(throws: NetworkError.self) { try await fixture.upload() }
        try Data("other".utf8).write(to: fixture.file)
        await #expect { try await fixture.upload() } throws: {
            ($0 as? NetworkError)?.kind == .bodyUnreadable && "\($0)".contains("film.mp4 has changed")
        }
        try await fixture.service().discardUpload(of: TapeEndpoint(file: fixture.file))
        #expect(fixture.notes.isEmpty && fixture.server.uploads.isEmpty)
        try await fixture.upload()
        #expect(fixture.server.complete == [Data("other".utf8)])
    }

    @Test("An upload that is given up is ended on the server, and nothing is left behind")
    func discarded() async throws {
        let fixture = try UploadFixture()
        let service = fixture.service()
        try await service.discardUpload(of: TapeEndpoint(file: fixture.file))
        #expect(fixture.server.methods.isEmpty, "there is none yet")
        fixture.server.order(.patch, .cut(after: 60_000))
        await #expect(throws: NetworkError.self) { try await fixture.upload() }
        fixture.server.order(.delete, .respond(StubResponse(.serviceUnavailable)))
        await #expect(throws: (any Error).self) {
            try await service.discardUpload(of: TapeEndpoint(file: fixture.file))
        }
        #expect(fixture.notes.count == 1)
        try await service.discardUpload(of: TapeEndpoint(file: fixture.file))
        #expect(fixture.notes.isEmpty && fixture.server.uploads.isEmpty)
    }

    @Test("A damaged note is no note")
    func damaged() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .cut(after: 60_000))
        await #expect(throws: NetworkError.self) { try await fixture.upload() }
        let note = fixture.folder.url.appending(path: ".film.mp4.upload")
        var bytes = try Data(contentsOf: note)
        bytes[40] ^= 1
        try bytes.write(to: note)
        try await fixture.upload()
        #expect(fixture.server.complete == [fixture.content] && fixture.notes.isEmpty)
    }

    @Test("Another upload of the same file at the same time is refused, and does not disturb the first one")
    func twoAtOnce() async throws {
        let fixture = try UploadFixture()
        let order = UploadOrder(
            ResumableFile(url: fixture.file, identity: try FileIdentity(fixture.file), resumption: .tus),
            discards: false)
        let note = try UploadNote(of: order, at: fixture.clock.date)
        await #expect { try await fixture.upload() } throws: {
            ($0 as? NetworkError)?.kind == .uploadRefused && "\($0)".contains("another upload of film.mp4")
        }
        note.close()
        try await fixture.upload()
        #expect(fixture.server.complete == [fixture.content])
    }

    private func service(_ fixture: UploadFixture, of user: UUID) -> NetworkService {
        let token = AccessToken("1", session: user)
        return fixture.service(
            authorizedBy: AccessTokenSupervisor(token: token, clock: fixture.clock.networkClock) { _ in
                throw AccessToken.Rejected()
            })
    }

    @Test("An upload is of its user: another one begins again, and does not lose it if no server is reached")
    func otherUser() async throws {
        let fixture = try UploadFixture()
        let (ann, ben) = (UUID(), UUID())
        fixture.server.order(.patch, .cut(after: 60_000))
        try? await fixture.upload(by: service(fixture, of: ann))
        fixture.server.order(.options, .respond(.failure(.notConnected)))
        try? await fixture.upload(by: service(fixture, of: ben))
        await #expect {
            try await service(fixture, of: ben).discardUpload(of: TapeEndpoint(file: fixture.file))
        } throws: { "\($0)".contains("of another user") }
        try await fixture.upload(by: service(fixture, of: ann))
        #expect(fixture.server.complete == [fixture.content] && fixture.server.uploads.count == 1)
        #expect(fixture.notes.isEmpty)
    }

    @Test("An upload with other metadata is another upload")
    func otherMetadata() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .cut(after: 60_000))
        try? await fixture.upload(.tus(metadata: ["name": "a"]))
        try await fixture.upload(.tus(metadata: ["name": "b"]))
        let complete = fixture.server.uploads.filter { $0.bytes.count == $0.length }
        #expect(complete.map(\.metadata) == ["name Yg=="])
    }

    @Test("A file that is written to while it is sent is an error before its last bytes are sent")
    func changedMeanwhile() async throws {
        let fixture = try UploadFixture(size: 2_000_000)
        let stub = StubTransport()
        stub.on(nil, nil) { [server = fixture.server, file = fixture.file] request in
            guard request.method == .patch else {
                let response = try await server.stub.send(request, delivering: .buffered(limit: 1_000))
                return StubResponse(response.status, headers: response.headers, body: response.data)
            }
            let reader = try request.body.open()
            defer { reader.close() }
            var buffer = [UInt8](repeating: 0, count: 1_000)
            _ = try await reader.next(into: &buffer)
            try Data(repeating: 1, count: 2_000_000).write(to: file)
            while try await reader.next(into: &buffer) != nil {}
            return StubResponse(.noContent, headers: ["Upload-Offset": "2000000"])
        }
        await #expect { try await fixture.upload(by: fixture.service { $0.transport = stub }) } throws: {
            ($0 as? NetworkError)?.kind == .bodyUnreadable
        }
    }

    @Test("Nobody else can read a note, and without one nothing is sent")
    func permissions() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .cut(after: 40_000))
        await #expect(throws: NetworkError.self) { try await fixture.upload() }
        let note = fixture.folder.url.appending(path: ".film.mp4.upload")
        let mode = try FileManager.default.attributesOfItem(atPath: note.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try FileManager.default.removeItem(at: note)
        try FileManager.default.createSymbolicLink(at: note, withDestinationURL: fixture.file)
        let count = fixture.server.methods.count
        await #expect { try await fixture.upload() } throws: { ($0 as? NetworkError)?.kind == .fileNotWritable }
        #expect(fixture.server.methods.count == count)
        #expect(try Data(contentsOf: fixture.file) == fixture.content)
    }

    @Test("An upload is of its user also if the app adds the credentials itself", arguments: ["X-Api-Key", "Cookie"])
    func otherKey(field: String) async throws {
        let fixture = try UploadFixture()
        func service(_ key: String) -> NetworkService {
            fixture.service {
                $0.requestAdaptingService = RequestAdaptingService([
                    AdHocAdapter { request, _ in request.headers[HTTPHeader.Name(field)] = key }
                ])
            }
        }
        fixture.server.order(.patch, .cut(after: 60_000))
        try? await fixture.upload(by: service("ann"))
        try await fixture.upload(by: service("ben"))
        #expect(fixture.server.uploads.count == 2 && fixture.server.complete == [fixture.content])
        for request in fixture.server.stub.requests.suffix(3) {
            #expect(request.headers[HTTPHeader.Name(field)] == "ben")
        }
    }

    @Test("A file that has the name of the note, and is none, is not touched")
    func foreignFile() async throws {
        let fixture = try UploadFixture()
        let other = fixture.folder.url.appending(path: ".film.mp4.upload")
        try Data("mine".utf8).write(to: other)
        await #expect { try await fixture.upload() } throws: {
            ($0 as? NetworkError)?.kind == .fileNotWritable && "\($0)".contains("is not the note of an upload")
        }
        #expect(try Data(contentsOf: other) == Data("mine".utf8))
        #expect(fixture.server.methods.isEmpty)
    }

    @Test("An upload that is discarded between two attempts of its call does not begin again")
    func discardedMeanwhile() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .cut(after: 60_000))
        let handler = AdHocErrorHandler { failure in
            _ = try? await fixture.service().discardUpload(of: TapeEndpoint(file: fixture.file))
            return .next(failure.error)
        }
        let service = fixture.service {
            $0.errorHandlingService = ErrorHandlingService([handler])
            $0.retry = RetryPolicy(retries: 3, backoff: .constant(.zero))
        }
        await #expect { try await fixture.upload(by: service) } throws: {
            ($0 as? NetworkError)?.kind == .uploadRefused && "\($0)".contains("was removed")
        }
        #expect(fixture.server.uploads.isEmpty && fixture.notes.isEmpty)
    }
}
