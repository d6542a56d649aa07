// The Swift blocks of Tokens.md, and what they do. `DocumentationTests` compares them with the article.

import Foundation
import Networking
import NetworkingTesting
import Testing

// snippet.chains
func makeAccounts(
    _ api: URL, _ session: AccessTokenSupervisor
) -> NetworkService {
    NetworkService(
        environment: NetworkEnvironment(baseURL: api),
        requestAdaptingService: RequestAdaptingService([
            HeadersAdapter(["X-Client": "app"]),
            TokenRequestAdapter(accessTokenSupervisor: session),
        ]),
        errorHandlingService: ErrorHandlingService([
            UnauthorizedErrorHandler(accessTokenSupervisor: session),
            GeneralErrorHandler(),
        ]))
}
// snippet.end

// snippet.suspended
struct AccountSuspended: Error {}

struct SuspensionHandler: ErrorHandler {
    func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        failure.response?.headers["X-Account"] == "suspended"
            ? .fail(AccountSuspended()) : .next(failure.error)
    }
}
// snippet.end

// snippet.refuses
struct GraphQLErrors: Decodable {
    struct Item: Decodable {
        struct Extensions: Decodable { let code: String? }
        let extensions: Extensions?
    }
    let errors: [Item]?
}

func makeGraphQLSession(
    _ token: AccessToken?,
    refresh: @escaping AccessTokenSupervisor.Refresh
) -> AccessTokenSupervisor {
    AccessTokenSupervisor(
        token: token,
        refuses: { response in
            let body = try? JSONDecoder().decode(
                GraphQLErrors.self, from: response.data)
            return body?.errors?.contains {
                $0.extensions?.code == "UNAUTHENTICATED"
            } ?? false
        }, refresh: refresh)
}
// snippet.end

// snippet.save
func save(
    _ session: AccessTokenSupervisor,
    with store: @escaping @MainActor @Sendable (AccessToken?) -> Void
) -> ObservationToken {
    session.tokens.observe { token in store(token) }
}
// snippet.end

@Suite("The article Tokens", .endsInTime)
struct TokenExamples {
    private let stub = StubTransport { request in
        switch request.headers[.authorization] {
        case "Bearer suspended": StubResponse(.unauthorized, headers: ["X-Account": "suspended"])
        case "Bearer old": .status(.unauthorized)
        case "Bearer quiet": .json(text: #"{"errors":[{"extensions":{"code":"UNAUTHENTICATED"}}]}"#)
        default: .json(text: "{}")
        }
    }
    private let refreshes = Box(0)
    private var refresh: AccessTokenSupervisor.Refresh {
        { [refreshes] _ in
            refreshes.change { $0 += 1 }
            return AccessToken("new")
        }
    }

    @Test("The chains written out refresh and repeat")
    func chains() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("old"), refresh: refresh)
        let url = try #require(URL(string: "https://api.example.com"))
        let service = NetworkService(client: makeAccounts(url, session).client.with { $0.transport = stub })
        try await service.request(.get("me").authorized())
        #expect(stub.requests.last?.headers[.authorization] == "Bearer new")
        #expect(stub.requests.last?.headers["X-Client"] == "app")
    }

    @Test("A suspended account ends the call, and nothing is refreshed")
    func suspended() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("suspended"), refresh: refresh)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([session.adapter])
            $0.errorHandlingService = ErrorHandlingService([SuspensionHandler(), session.handler])
        }
        await #expect(throws: AccountSuspended.self) { try await service.request(.get("me").authorized()) }
        #expect(refreshes.value == 0)
    }

    @Test("A GraphQL refusal inside a 200 is refreshed")
    func graphQL() async throws {
        let session = makeGraphQLSession(AccessToken("quiet"), refresh: refresh)
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        try await service.request(.post("graphql").authorized())
        #expect(refreshes.value == 1 && stub.requests.count == 2)
    }

    @Test("Forms of a session; asking for the token")
    @MainActor
    func forms() async throws {
        let (auth, api) = (stub, Fixture.environment)
        let signIn: AccessTokenSupervisor.Refresh = refresh
        // snippet.forms
        // Logged out until a token is assigned.
        let user = AccessTokenSupervisor { old in try await signIn(old) }
        // Client credentials: the first call waits for the first token.
        let machine = AccessTokenSupervisor(fetchingFirst: true) { old in
            try await signIn(old)
        }
        // An API key, which is never refreshed.
        let key = AccessTokenSupervisor(fixed: "key", scheme: .custom("ApiKey"))
        // snippet.end
        #expect(user.accessToken == nil && key.accessToken?.value == "key")
        let service = NetworkService(environment: api, authorizedBy: machine) { $0.transport = auth }
        let session = machine
        // snippet.ask
        // For a web view, a socket or another SDK. Waits for a refresh.
        let token = try await session.validToken()
        // For a background session: the request, with a valid token if there is one.
        let request = try await service.httpRequest(
            for: .get("film").authorized(), refreshing: true)
        // Another SDK says that the token was refused.
        try await session.refresh()
        // snippet.end
        #expect(token.value == "new" && request.headers[.authorization] == "Bearer new" && refreshes.value == 2)
        let saved = Box<[String?]>([])
        let observation = save(session) { token in saved.change { $0.append(token?.value) } }
        session.accessToken = nil
        while saved.value.isEmpty { await Task.yield() }
        observation.cancel()
        #expect(saved.value == [nil])
    }
}
