import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Uploads and the session", .endsInTime)
struct UploadSessionTests {
    @Test("The closure that recognises refusals is asked once for each response")
    func refusal() async throws {
        let fixture = try UploadFixture()
        let asked = Box<[String]>([])
        let session = AccessTokenSupervisor(
            token: AccessToken("1"),
            refuses: { response in
                asked.change { $0.append("\(response.request.method)") }
                return false
            }, clock: fixture.clock.networkClock
        ) { _ in AccessToken("2") }
        try await fixture.upload(by: fixture.service(authorizedBy: session))
        #expect(asked.value == ["OPTIONS", "POST", "PATCH"])
    }

    @Test("A token is refreshed at each step of an upload", arguments: [HTTPMethod.options, .post, .head, .patch])
    func refreshed(method: HTTPMethod) async throws {
        let fixture = try UploadFixture(size: method == .options ? 0 : 100_000)
        let session = AccessTokenSupervisor(token: AccessToken("1"), clock: fixture.clock.networkClock) { _ in
            AccessToken("2")
        }
        let service = fixture.service(authorizedBy: session)
        if method == .head {
            fixture.server.order(.patch, .cut(after: 40_000))
            await #expect(throws: (any Error).self) { try await fixture.upload(by: service) }
        }
        fixture.server.order(method, .respond(StubResponse(.unauthorized)))
        try await fixture.upload(by: service)
        #expect(fixture.server.complete == [fixture.content] && session.accessToken?.value == "2")
    }

    @Test("A token that expires again and again is refreshed each time, because bytes have arrived with it")
    func expiringTokens() async throws {
        let fixture = try UploadFixture()
        let (count, valid) = (Box(1), Box(1))
        let stub = StubTransport()
        stub.on(nil, nil) { [server = fixture.server] request in
            guard request.headers[.authorization] == "Bearer \(valid.value)" else { return StubResponse(.unauthorized) }
            let response = try await server.stub.send(request, delivering: .buffered(limit: 1_000))
            if request.method == .patch { valid.change { $0 += 1 } }  // the token expires after each part
            return StubResponse(response.status, headers: response.headers, body: response.data)
        }
        let session = AccessTokenSupervisor(token: AccessToken("1"), clock: fixture.clock.networkClock) { _ in
            count.change { $0 += 1 }
            return AccessToken("\(count.value)")
        }
        let service = fixture.service(authorizedBy: session) { $0.transport = stub }
        try await fixture.upload(.tus(partSize: 20_000), by: service)
        #expect(fixture.server.complete == [fixture.content] && fixture.server.uploads.count == 1)
        #expect(count.value == 5, "the last part needs no further token")
    }

    @Test("A token that is refused each time is refreshed once, although the server answers other requests")
    func refusedTokens() async throws {
        let fixture = try UploadFixture()
        for _ in 0..<10 { fixture.server.order(.patch, .respond(StubResponse(.unauthorized))) }
        let refreshes = Box(0)
        let session = AccessTokenSupervisor(token: AccessToken("1"), clock: fixture.clock.networkClock) { _ in
            refreshes.change { $0 += 1 }
            return AccessToken("2")
        }
        let service = fixture.service(authorizedBy: session)
        for _ in 0..<2 { await #expect(throws: (any Error).self) { try await fixture.upload(by: service) } }
        #expect(refreshes.value == 1)
    }
}
