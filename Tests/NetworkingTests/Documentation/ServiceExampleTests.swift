import Foundation
import Networking
import NetworkingTesting
import Testing

@Suite("The examples of a service in the articles", .endsInTime)
struct ServiceExampleTests {
    @Test("The example of a test with a stub passes")
    func examples() async throws {
        let api = try #require(URL(string: "https://api.example.com"))
        #expect(try await exampleOfAStub(api).name == "Ada")
    }

    @Test("The example of a counted refresh passes")
    func refresher() async throws {
        let api = Fixture.environment
        // snippet.refresher
        let stub = StubTransport { request in
            request.headers[.authorization] == "Bearer fresh"
                ? .text("Ada") : .status(.unauthorized)
        }
        let refresher = StubRefresher { count, old in
            if count > 1 { throw AccessToken.Rejected() }  // the session is over
            return AccessToken("fresh")
        }
        let session = AccessTokenSupervisor(
            token: AccessToken("stale"), refresh: refresher.refresh)
        let service = NetworkService(environment: api, authorizedBy: session) {
            $0.transport = stub
        }

        _ = try await service.request(.get("users/7").authorized(), as: .string)

        #expect(refresher.count == 1)
        // snippet.end
    }

    @Test("The session of the examples refreshes its token and stores the new refresh token")
    func session() async throws {
        let stub = StubTransport()
        stub.on(.post, "/v1/token", .json(text: #"{"token":"new","expiresIn":60,"refreshToken":"again"}"#))
        stub.on(.get, "/v1/users/7") { request in
            request.headers[.authorization] == "Bearer new"
                ? .json(Profile(id: 7, name: "Ada")) : .status(.unauthorized)
        }
        let auth = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        let session = makeSession(auth, stored: AccessToken("old", refreshToken: "first"))
        let profiles = ProfileService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        #expect(try await profiles.profile(7).name == "Ada")
        #expect(session.accessToken?.refreshToken == "again")
    }
}
