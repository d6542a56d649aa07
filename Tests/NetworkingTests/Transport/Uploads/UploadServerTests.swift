import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("What servers of uploads offer", .endsInTime)
struct UploadServerTests {
    @Test("Parts are sent one after another, each with its SHA-1 sum if the server compares it")
    func parts() async throws {
        let fixture = try UploadFixture(size: 25)
        try await fixture.upload(.tus(partSize: 10))
        #expect(fixture.server.patches.map { $0["Upload-Offset"] } == ["0", "10", "20"])
        let content = fixture.content[..<10]
        let digest = try MessageDigest(.sha1)
        digest.update(content)
        #expect(fixture.server.patches.first?["Upload-Checksum"] == "sha1 \(digest.finish().base64EncodedString())")
        #expect(fixture.server.complete == [fixture.content])
    }

    @Test("SHA-1 is that of FIPS 180")
    func sha1() throws {
        let digest = try MessageDigest(.sha1)
        digest.update(Data("abc".utf8))
        #expect(digest.finish().base64EncodedString() == "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=")
    }

    @Test("The first part and the metadata of the file are sent with the request that creates the upload")
    func firstPart() async throws {
        let fixture = try UploadFixture(size: 25)
        try await fixture.upload(
            .tus(partSize: 10, sendsFirstPart: true, metadata: ["filename": "film.mp4", "isPrivate": ""]))
        #expect(fixture.server.patches.map { $0["Upload-Offset"] } == ["10", "20"])
        #expect(fixture.server.uploads.first?.metadata == "filename ZmlsbS5tcDQ=,isPrivate")
        #expect(fixture.server.complete == [fixture.content])
    }

    @Test("A server without the extension gets no first part, and no checksum")
    func noExtensions() async throws {
        let fixture = try UploadFixture(size: 25)
        fixture.server.change { $0.extensions = "creation" }
        try await fixture.upload(.tus(partSize: 10, sendsFirstPart: true))
        #expect(fixture.server.patches.map { $0["Upload-Offset"] } == ["0", "10", "20"])
        #expect(fixture.server.patches.allSatisfy { $0["Upload-Checksum"] == nil })
    }

    @Test("A file that is larger than the server accepts is not sent")
    func tooLarge() async throws {
        let fixture = try UploadFixture()
        fixture.server.change { $0.maximumSize = 99_999 }
        await #expect { try await fixture.upload() } throws: {
            ($0 as? NetworkError)?.kind == .uploadRefused && "\($0)".contains("at most 99999 bytes")
        }
        #expect(fixture.server.methods == ["OPTIONS"] && fixture.notes.isEmpty)
    }

    @Test("A server that knows no tus gets the endpoint's own request, if the app allows it")
    func plain() async throws {
        let fixture = try UploadFixture()
        let stub = StubTransport()
        stub.on(.options, nil, StubResponse(.methodNotAllowed))
        stub.on(.post, nil, StubResponse(.ok))
        let service = fixture.service { $0.transport = stub }
        await #expect { try await fixture.upload(by: service) } throws: {
            ($0 as? NetworkError)?.kind == .uploadRefused && "\($0)".contains("may not know tus")
        }
        try await fixture.upload(.tus(allowsPlain: true), by: service)
        let request = try #require(stub.requests.last)
        #expect(request.method == .post && request.headers["Tus-Resumable"] == nil)
        #expect(request.allHeaders[.contentType] == "video/mp4" && request.body.length == 100_000)
        #expect(fixture.notes.isEmpty)
    }

    @Test("A plain upload is not repeated as an upload that goes on would be")
    func plainIsNotRepeated() async throws {
        let fixture = try UploadFixture()
        let stub = StubTransport()
        stub.on(.options, nil, StubResponse(.notFound))
        stub.on(.post, nil, .failure(.connectionLostBeforeHead))
        let service = fixture.service {
            $0.transport = stub
            $0.retry = RetryPolicy(retries: 3, backoff: .constant(.zero))
        }
        await #expect(throws: NetworkError.self) { try await fixture.upload(.tus(allowsPlain: true), by: service) }
        #expect(stub.requests.count { $0.method == .post } == 1)
    }

    @Test("An upload on another origin gets neither the token nor the fields of the app")
    func otherOrigin() async throws {
        let fixture = try UploadFixture()
        fixture.server.change { $0.home = "https://storage.example.net/" }
        let session = AccessTokenSupervisor(token: AccessToken("1"), clock: fixture.clock.networkClock) { _ in
            AccessToken("2")
        }
        let service = fixture.service(authorizedBy: session) {
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, _ in request.headers["X-Key"] = "secret" }
            ])
        }
        fixture.server.order(.patch, .cut(after: 10))
        await #expect(throws: NetworkError.self) { try await fixture.upload(by: service) }
        try await fixture.upload(by: service)
        #expect(fixture.server.complete == [fixture.content])
        for request in fixture.server.stub.requests where request.url.host == "storage.example.net" {
            #expect(request.headers[.authorization] == nil && request.headers["X-Key"] == nil)
            #expect(["HEAD", "PATCH"].contains("\(request.method)"))
        }
    }

    @Test("A refusal of another origin refreshes no token of the service")
    func refusalOfOtherOrigin() async throws {
        let fixture = try UploadFixture()
        fixture.server.change { $0.home = "https://storage.example.net/" }
        fixture.server.order(.patch, .respond(StubResponse(.unauthorized)))
        let refreshes = Box(0)
        let session = AccessTokenSupervisor(token: AccessToken("1"), clock: fixture.clock.networkClock) { _ in
            refreshes.change { $0 += 1 }
            return AccessToken("2")
        }
        await #expect(throws: (any Error).self) {
            try await fixture.upload(by: fixture.service(authorizedBy: session))
        }
        #expect(refreshes.value == 0)
        try await fixture.upload(by: fixture.service(authorizedBy: session))
        #expect(fixture.server.complete == [fixture.content])
    }
}
