import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// What a developer and a user read when there is no token. A new user of the library found each of these faults.
@Suite("Texts about tokens", .endsInTime)
struct TokenTextTests {
    private struct Down: Error {}

    private func session(
        _ token: AccessToken? = AccessToken("old"), on clock: NetworkClock = Fixture.stillClock,
        refresh: @escaping AccessTokenSupervisor.Refresh = { _ in throw AccessToken.Rejected() }
    ) -> AccessTokenSupervisor {
        AccessTokenSupervisor(token: token, clock: clock, refresh: refresh)
    }

    private func service(_ session: AccessTokenSupervisor?, _ answer: StubResponse) -> NetworkService {
        let stub = StubTransport { _ in answer }
        return NetworkService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
    }

    private func failure(_ service: NetworkService, _ call: AdHocEndpoint) async -> GeneralRequestError? {
        await Fixture.failure { _ = try await service.request(call, as: .string) } as? GeneralRequestError
    }

    @Test(
        "A refresh that returns a token that no field can carry has failed, and the old token stays",
        arguments: ["new\n", "", " new", "n\u{0}w"])
    func unsendable(value: String) async {
        let session = session { _ in AccessToken(value) }
        let error = await failure(service(session, .status(.unauthorized)), .get("film").authorized())
        let text = error.map { "\($0)" } ?? ""
        #expect(error == .noAuth && text.contains("the refresh returned a token that cannot be sent"), "\(text)")
        #expect(session.accessToken == AccessToken("old"))
        #expect(error?.errorDescription == "The log-in cannot be checked at the moment.")
    }

    @Test("A stored token that no field can carry counts as damaged")
    func unsendableInStore() async throws {
        let session = AccessTokenSupervisor(store: MemoryTokenStore(AccessToken("old\n")), clock: Fixture.stillClock) {
            _ in throw AccessToken.Rejected()
        }
        #expect(try await session.load() == nil)
        guard case .notStored(let error) = session.events.current else { throw Down() }
        #expect(error is AccessToken.Undecodable && "\(error)".contains("cannot be sent"), "\(error)")
    }

    @Test("While a session goes on, no text for the user says that nobody is logged in")
    func sessionGoesOn() async {
        let outage = session { _ in throw NetworkError(.cannotConnect) }
        let error = await failure(service(outage, .status(.unauthorized)), .get("film").authorized())
        #expect(error == .noAuth && error?.errorDescription == "The server cannot be reached.")
        #expect(error?.recoverySuggestion == "Try again later.")
        let unknown = session { _ in throw Down() }
        let other = await failure(service(unknown, .status(.unauthorized)), .get("film").authorized())
        #expect(other == .noAuth && other?.errorDescription == "The log-in cannot be checked at the moment.")
    }

    @Test("A user whose session is over reads that nobody is logged in, and the developer reads why")
    func over() async {
        let error = await failure(service(session(), .status(.unauthorized)), .get("film").authorized())
        #expect(error?.errorDescription == "You are not logged in.")
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("the session is over, and the user has to log in again"), "\(text)")
    }

    @Test("A refused refresh is not explained with its missing token")
    func refusedRefresh() async {
        let auth = service(nil, .status(.unauthorized))
        let session = session { _ in
            _ = try await auth.request(.post("token"), as: .string)
            return AccessToken("new")
        }
        let error = await failure(service(session, .status(.unauthorized)), .get("film").authorized())
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("POST api.example.com/v1/token: 401") && !text.contains("sent without"), "\(text)")
    }

    @Test("A refused call whose optional token is missing says that nobody is logged in")
    func optional() async {
        let call = AdHocEndpoint.get("film").authorized(.optional(.bearer))
        let error = await failure(service(session(nil), .status(.unauthorized)), call)
        #expect(error?.cause?.reason == "401 Unauthorized, sent without a token: nobody is logged in")
    }

    @Test("A token whose scope is not sufficient is named as the reason")
    func scope() async {
        let answer = StubResponse.status(
            .unauthorized, headers: [.wwwAuthenticate: "Bearer error=\"insufficient_scope\", scope=\"admin\""])
        let error = await failure(service(session(), answer), .get("film").authorized())
        #expect(error?.cause?.reason == "401 Unauthorized: the scope of the token is not sufficient")
    }

    @Test("A refresh that takes too long names the setting of the session")
    func tooSlow() async throws {
        let clock = ManualClock()
        let session = session(on: clock.networkClock) { _ in
            try await clock.networkClock.wait(for: .seconds(100))
            return AccessToken("new")
        }
        let result = Task { try await session.refresh() }
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(31))
        let error = await Fixture.failure { _ = try await result.value } as? NetworkError
        let cause = error?.underlying as? NetworkError
        #expect(cause?.reason == "the token refresh took longer than 30 s (refreshTimeout)")
        #expect(cause?.hint?.contains("timeouts.total") != true)
    }

    @Test("The hint for a missing token says what to do")
    func hint() async {
        let none = await Fixture.failure { _ = try await session(nil).validToken() } as? NetworkError
        #expect(none?.hint == "Set the token of the session after the log-in (accessToken).")
        let down = session(AccessToken("old", expiresAt: Fixture.stillClock.date() - 1)) { _ in throw Down() }
        let error = await Fixture.failure { _ = try await down.validToken() } as? NetworkError
        #expect(error?.hint == "The session continues, and a later call tries again. See the underlying error.")
    }
}
