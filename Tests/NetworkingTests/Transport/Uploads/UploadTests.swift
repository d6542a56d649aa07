import Foundation
import NetworkingOutbox
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Uploads that go on after an interruption", .endsInTime)
struct UploadTests {
    @Test("A file is sent with three requests, and nothing is left behind")
    func whole() async throws {
        let fixture = try UploadFixture()
        let response: Response<Data> = try await fixture.service().response(TapeEndpoint(file: fixture.file), as: .data)
        #expect(response.http.status == .noContent)
        #expect(fixture.server.methods == ["OPTIONS", "POST", "PATCH"])
        #expect(fixture.server.complete == [fixture.content])
        #expect(fixture.notes.isEmpty)
        let fields = try #require(fixture.server.patches.first)
        #expect(fields["Content-Type"] == "application/offset+octet-stream" && fields["Tus-Resumable"] == "1.0.0")
    }

    @Test("An upload whose response goes into a file is resumable, too")
    func intoFile() async throws {
        let fixture = try UploadFixture()
        let target = fixture.folder.url.appending(path: "answer")
        _ = try await fixture.service().request(TapeEndpoint(file: fixture.file), as: .file(at: target))
        #expect(fixture.server.methods == ["OPTIONS", "POST", "PATCH"])
        #expect(fixture.server.complete == [fixture.content])
        #expect(try Data(contentsOf: target).isEmpty)
    }

    @Test("After a lost connection, the next attempt goes on where the server says")
    func lostConnection() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .cut(after: 40_000), .cut(after: 0), .cut(after: 50_000))
        let meter = RequestProgress.Meter(clock: fixture.clock.networkClock)
        let service = fixture.service { $0.retry = RetryPolicy(retries: 5, backoff: .constant(.zero)) }
        try await service.request(
            TapeEndpoint(file: fixture.file), with: RequestSettings { $0.progress = meter })
        #expect(fixture.server.complete == [fixture.content])
        #expect(
            fixture.server.methods == [
                "OPTIONS", "POST", "PATCH", "HEAD", "PATCH", "HEAD", "PATCH", "HEAD", "PATCH",
            ])
        #expect(fixture.server.patches.map { $0["Upload-Offset"] } == ["0", "40000", "40000", "90000"])
        #expect(meter.current.upload.total == 100_000)
        #expect(fixture.notes.isEmpty)
    }

    @Test("If the response to the last bytes is lost, the file is not sent again")
    func lostResponse() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .loseResponse)
        await #expect { try await fixture.upload() } throws: {
            ($0 as? NetworkError)?.kind == .connectionLostBeforeHead
        }
        #expect(fixture.notes == [".film.mp4.upload"])
        try await fixture.upload()
        #expect(fixture.server.methods == ["OPTIONS", "POST", "PATCH", "HEAD"])
        #expect(fixture.server.complete == [fixture.content] && fixture.notes.isEmpty)
    }

    @Test("If the server forgets an upload of which all bytes were sent, the error says that it may be complete")
    func maybeComplete() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .loseResponse)
        await #expect(throws: NetworkError.self) { try await fixture.upload() }
        fixture.server.order(.head, .forget)
        await #expect { try await fixture.upload() } throws: {
            ($0 as? NetworkError)?.kind == .uploadRefused && "\($0)".contains("may be complete")
        }
        try await fixture.upload()
        #expect(fixture.server.complete == [fixture.content])
    }

    @Test("If the response to the creation is lost, another upload is created")
    func lostCreation() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.post, .loseResponse)
        let service = fixture.service { $0.retry = RetryPolicy(retries: 1, backoff: .constant(.zero)) }
        try await fixture.upload(by: service)
        #expect(fixture.server.complete == [fixture.content] && fixture.server.uploads.count == 2)
    }

    @Test("An upload that the server does not know any more begins again")
    func forgotten() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .cut(after: 40_000))
        await #expect(throws: NetworkError.self) { try await fixture.upload(.tus(partSize: 50_000)) }
        fixture.server.order(.head, .forget)
        try await fixture.upload()
        #expect(fixture.server.complete == [fixture.content])
    }

    @Test("A server that always forgets the upload ends the call")
    func alwaysForgotten() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .forget, .forget, .forget)
        await #expect { try await fixture.upload() } throws: {
            ($0 as? NetworkError)?.kind == .uploadRefused && "\($0)".contains("forgotten")
        }
        #expect(fixture.server.patches.count == 2 && fixture.notes.isEmpty)
    }

    @Test("A pause ends the request, and after it the upload goes on where the server says")
    func pause() async throws {
        let fixture = try UploadFixture()
        let isPaused = Box(false)
        let hasArrived = Box(false)
        let server = fixture.server
        let stub = StubTransport()
        let never = Settlement<Void>()
        stub.on(nil, nil) { request in
            if request.method == .patch, !isPaused.value {
                server.order(.patch, .cut(after: 30_000))
                _ = try? await server.stub.send(request, delivering: .buffered(limit: 1_000))
                hasArrived.change { $0 = true }
                try await never.value()
            }
            let response = try await server.stub.send(request, delivering: .buffered(limit: 1_000))
            return StubResponse(response.status, headers: response.headers, body: response.data)
        }
        let task = fixture.service { $0.transport = stub }.task(TapeEndpoint(file: fixture.file), as: .void)
        while !hasArrived.value { await Task.yield() }
        isPaused.change { $0 = true }
        #expect(task.pause())
        #expect("\(task.state)" == "paused")
        #expect(task.resume())
        try await task.value
        #expect(server.complete == [fixture.content] && server.uploads.count == 1)
    }

    @Test("A POST that is no upload cannot be paused, also if its response is written into a file")
    func noPause() async throws {
        let fixture = try UploadFixture()
        let plain = fixture.service().task(.post("x").body(.string("x")), as: .void)
        let export = fixture.service().task(.post("x"), as: .file(at: fixture.folder.url.appending(path: "export")))
        #expect(!plain.pause() && !export.pause())
        _ = try? await plain.value
        _ = try? await export.value
    }

    @Test("A token that expires during the upload is refreshed, and the upload goes on")
    func refresh() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .cut(after: 60_000), .respond(StubResponse(.unauthorized)))
        let session = AccessTokenSupervisor(token: AccessToken("1"), clock: fixture.clock.networkClock) { _ in
            AccessToken("2")
        }
        let service = fixture.service(authorizedBy: session) {
            $0.retry = RetryPolicy(retries: 1, backoff: .constant(.zero))
        }
        try await fixture.upload(by: service)
        #expect(fixture.server.complete == [fixture.content] && fixture.server.uploads.count == 1)
        #expect(
            fixture.server.stub.requests.map { $0.headers[.authorization] }
                == Array(repeating: "Bearer 1", count: 5) + ["Bearer 2", "Bearer 2"])
    }

    @Test("An empty file is created, and an upload of it is complete")
    func empty() async throws {
        let fixture = try UploadFixture(size: 0)
        try await fixture.upload()
        #expect(fixture.server.complete == [Data()] && fixture.server.methods == ["OPTIONS", "POST"])
    }

    @Test("A body that is no file, and a method other than POST, are refused before anything is sent")
    func misuse() async throws {
        let fixture = try UploadFixture()
        let service = fixture.service()
        for endpoint in [
            AdHocEndpoint.post("films").body(.string("x").resumable(.tus)),
            AdHocEndpoint.put("films").body(.file(fixture.file).resumable(.tus)),
            AdHocEndpoint.post("films").body(.file(fixture.file).resumable(.tus(partSize: 0))),
            AdHocEndpoint.post("films").body(.file(fixture.file).resumable(.tus(metadata: ["a b": "1"]))),
        ] {
            await #expect { try await service.request(endpoint) } throws: {
                ($0 as? NetworkError)?.kind == .invalidRequest && "\($0)".contains("upload: expected")
            }
        }
        #expect(fixture.server.methods.isEmpty && fixture.notes.isEmpty)
    }

    @Test("The outbox refuses a resumable body, and a plain body cannot be discarded")
    func elsewhere() async throws {
        let fixture = try UploadFixture()
        await #expect {
            try await fixture.service().discardUpload(of: .post("films").body(.file(fixture.file)))
        } throws: {
            ($0 as? NetworkError)?.kind == .invalidRequest
        }
        #expect(fixture.server.methods.isEmpty)
        let endpoint = StoredTape(file: fixture.file)
        let outbox = try Outbox(
            for: fixture.service(), in: fixture.folder.url.appending(path: "outbox"),
            endpoints: [.init(StoredTape.self, name: "tape")])
        await #expect { try await outbox.enqueue(endpoint) } throws: { "\($0)".contains("without `resumable`") }
    }

    private struct StoredTape: Endpoint, Codable {
        let file: URL

        var path: EndpointPath { "films" }
        var method: HTTPMethod { .post }
        var body: HTTPBody { .file(file).resumable(.tus) }
    }
}
