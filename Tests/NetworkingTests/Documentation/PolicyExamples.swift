// The Swift blocks of several articles, unchanged. `DocumentationTests` compares them with the articles.

import Dispatch
import Foundation
import Networking
import NetworkingTesting

func makeFleetMember(_ environment: NetworkEnvironment) -> NetworkService {
    NetworkService(environment: environment) {
        $0.retry = .standard
        $0.retry?.budget = RetryPolicy.Budget()
        // The calls of a pause of 30 s leave at random times in the next 30 s.
        $0.backoffGate = BackoffGate(spread: 1)
    }
}

func makeResilient(
    _ environment: NetworkEnvironment, session: AccessTokenSupervisor
) -> ProfileService {
    // By default: at most 64 requests per host, and the backoff gate.
    ProfileService(environment: environment, authorizedBy: session) {
        $0.retry = RetryPolicy(
            retries: 2, backoff: .exponential(first: .milliseconds(200)),
            jitter: .full)
        // Each success adds a tenth of a retry.
        $0.retry?.budget = RetryPolicy.Budget()
        // Blocks calls for 30 s if half of at least 10 calls in 10 s fail.
        $0.circuitBreaker = CircuitBreaker()
        $0.duplicates = .always(.join)  // equal GETs share one transfer
        $0.cookies = CookieJar()  // by default, no cookies are kept
    }
}

struct Transfer: Endpoint {
    let path: EndpointPath = "transfers"
    let method = HTTPMethod.post
    // With a key, this POST may be sent again.
    let idempotencyKey = IdempotencyKey.unique

    var settings: RequestSettings {
        RequestSettings {
            $0.priority = .high
            $0.retry = RetryPolicy(retries: 5, backoff: .constant(.seconds(1)))
        }
    }
}

func watch(
    _ session: AccessTokenSupervisor,
    store: @escaping @MainActor @Sendable (AccessToken?) -> Void
) -> ObservationToken {
    session.events.observe { event in
        switch event {
        case .refreshed(let token): store(token)
        // The session continues. The next refused call starts a refresh.
        case .unreachable: break
        case .sessionOver: store(nil)
        // Emitted only by a session that uses an AccessTokenStore.
        case .notStored: break
        }
    }
}

func use(_ profiles: ProfileService) async {
    do {
        let profile = try await profiles.profile(7)
        print(profile.name)
    } catch ProfileError.unknownUser {
        print("nobody has this id")
    } catch GeneralRequestError.noInternetConnection {
        print("you are offline")
    } catch let error as NetworkError {
        print(error)  // GET api.example.com/users/7: 503 Service Unavailable
    } catch {
        print(error)
    }

    profiles.request(
        for: ProfileEndpoint.fetch(id: 7),
        success: { (profile: Profile) in print(profile.name) },
        failure: { error in print(error) })

    let task = profiles.task(
        ProfileEndpoint.fetch(id: 7), as: .json(Profile.self))
    task.onSuccess { profile in print(profile.name) }
    task.cancel()
}

func exampleOfAStub(_ api: URL) async throws -> Profile {
    let stub = StubTransport()
    stub.on(.get, "/users/7", .status(.serviceUnavailable), .json(Profile(id: 7, name: "Ada")))
    let session = AccessTokenSupervisor(token: AccessToken("test")) { _ in AccessToken("fresh") }
    let profiles = ProfileService(environment: NetworkEnvironment(baseURL: api), authorizedBy: session) {
        $0.transport = stub
        $0.retry = RetryPolicy(retries: 1)
    }
    return try await profiles.profile(7)
}

// `LoopbackResponse(.unauthorized)` responds with a status. `try await request.json(Profile.self)` reads the body of a
// request.
func exampleOfAServer() async throws -> Profile {
    let server = try LoopbackServer()
    server.route(.get, "/users/:id") { request in
        .json(Profile(id: Int(request.parameters["id"] ?? "") ?? 0, name: "Grace"))
    }
    let profiles = ProfileService(environment: NetworkEnvironment(baseURL: server.url))
    return try await profiles.profile(8)
}

func exampleOfSettings(_ profiles: ProfileService) async throws {
    let response: Response<Profile> = try await profiles.response(
        ProfileEndpoint.fetch(id: 7),
        with: RequestSettings { $0.timeouts.total = .seconds(3) })
    print(
        response.http.status, response.http.headers[.eTag] ?? "no version",
        response.value.name)
}

#if os(Linux)
    func exampleOfAnEngine(_ api: URL, _ companyAuthority: URL, _ pin: TLSConfiguration.Pin) throws -> ProfileService {
        var configuration = CurlTransport.Configuration()
        configuration.tls = TLSConfiguration(
            trust: .file(companyAuthority), pins: [pin])
        configuration.proxy = .direct
        configuration.limits.connectionsPerHost = 16
        // The default. The other values are .http1 and .http2.
        configuration.httpVersions = .preferHTTP2
        configuration.resolve = ["api.example.com:443": ["10.0.0.7"]]
        let transport = try CurlTransport(configuration)
        let profiles = ProfileService(environment: NetworkEnvironment(baseURL: api)) {
            $0.transport = transport
        }
        return profiles
    }
#endif
