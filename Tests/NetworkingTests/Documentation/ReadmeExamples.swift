// The Swift blocks of README.md, as they stand there. `ReadmeTests` compares them.

import Dispatch
import Foundation
import Networking
import NetworkingTesting

struct Profile: Codable, Sendable {
    let id: Int
    let name: String
}

enum ProfileError: Error {
    case unknownUser
}

enum ProfileEndpoint {
    case fetch(id: Int)
    case search(text: String, page: Int?)
    case rename(id: Int, to: String)
}

extension ProfileEndpoint: Endpoint {
    var path: EndpointPath {
        switch self {
        case .fetch(let id), .rename(let id, _): "users/\(id)"
        case .search: "users"
        }
    }

    var method: HTTPMethod {
        switch self {
        case .fetch, .search: .get
        case .rename: .patch
        }
    }

    var query: URLQuery {
        switch self {
        case .search(let text, let page): ["q": text, "page": page]  // nil leaves its item out
        case .fetch, .rename: [:]
        }
    }

    var body: HTTPBody {
        switch self {
        case .rename(_, let name): .json(["name": name])
        case .fetch, .search: .empty
        }
    }

    var authorizationType: AuthorizationType { .bearer }

    func error(for status: HTTPStatus) -> (any Error)? {
        status == .notFound ? ProfileError.unknownUser : nil
    }
}

final class ProfileService: NetworkService, @unchecked Sendable {
    func profile(_ id: Int) async throws -> Profile {
        try await request(ProfileEndpoint.fetch(id: id))
    }

    func search(_ text: String) async throws -> [Profile] {
        try await request(ProfileEndpoint.search(text: text, page: 1))
    }

    func rename(_ id: Int, to name: String) async throws {
        try await request(ProfileEndpoint.rename(id: id, to: name))
    }
}

struct Grant: Decodable {
    let token: String
    let expiresIn: Int
    let refreshToken: String
}

struct RefreshEndpoint: Endpoint {
    let refreshToken: String

    var path: EndpointPath { "token" }
    var method: HTTPMethod { .post }
    var body: HTTPBody { .json(["refresh_token": refreshToken]) }
}

func makeSession(_ auth: NetworkService, stored: AccessToken?) -> AccessTokenSupervisor {
    AccessTokenSupervisor(token: stored) { old in
        guard let refreshToken = old?.refreshToken else { throw AccessToken.Rejected() }
        let grant: Grant = try await auth.request(RefreshEndpoint(refreshToken: refreshToken))
        return AccessToken(grant.token, expiresIn: .seconds(grant.expiresIn), refreshToken: grant.refreshToken)
    }
}

func makeProfiles(_ environment: NetworkEnvironment, session: AccessTokenSupervisor) -> ProfileService {
    ProfileService(environment: environment, authorizedBy: session)
}

func makeProfilesOfChains(_ environment: NetworkEnvironment, session: AccessTokenSupervisor) -> ProfileService {
    ProfileService(
        environment: environment,
        requestAdaptingService: RequestAdaptingService([HeadersAdapter(.standard, .keepExisting), session.adapter]),
        errorHandlingService: ErrorHandlingService([session.handler, GeneralErrorHandler()]))
}

struct LoginError: Decodable, Sendable {
    let message: String
}

struct LogIn: TypedEndpoint {
    typealias ResponseValue = Grant  // what an answer is
    typealias ServerError = LoginError  // what a refusal says

    let name: String
    let password: String
    let path: EndpointPath = "login"
    let method = HTTPMethod.post
    var body: HTTPBody { .json(["name": name, "password": password]) }
}

func exampleOfAnswers(_ accounts: NetworkService, _ name: String, _ password: String) async throws {
    do {
        let grant = try await accounts.request(LogIn(name: name, password: password))  // no type needed
        print(grant.token)
    } catch let error as ServerFailure<LoginError> {
        print(error.serverError.message, error.status ?? 0)
    }

    // Without a type of its own, and only what stands somewhere in the answer:
    let names = try await accounts.request(
        .get("users").query("page", 2).authorized(), as: .keyPath("data.names", .json([String].self)))
    print(names)

    // A call that runs, of which others are made:
    let user = accounts.task(.get("users/7"), as: .json(Profile.self))
    let photo = user.flatMap { accounts.task(.get("photos/\($0.id)"), as: .data) }
    photo.onStart { print("started") }.onAttempt { attempt in print(attempt) }
        .onSuccess { print($0.count) }.onFailure { print($0) }.onCancel { print("cancelled") }
    let both = try await RequestTask.all(user, photo).value
    print(both.0.name, both.1.count)
}

enum FilmEndpoint: Endpoint {
    case list(genre: String, page: Int)
    case upload(title: String, file: URL)
    case film(id: Int)
    case news

    var path: EndpointPath {
        switch self {
        case .list, .upload: "films"
        case .film(let id): "films/\(id)"
        case .news: "news"
        }
    }

    var method: HTTPMethod { if case .upload = self { .post } else { .get } }

    var parameters: RequestParameters {
        if case .list(let genre, let page) = self { .query(["genre": genre, "page": "\(page)"]) } else { .none }
    }

    var body: HTTPBody {
        guard case .upload(let title, let file) = self else { return .empty }
        return .multipart([.field("title", title), .file("film", at: file)])  // read while it is sent
    }
}

func exampleOfTransfers(_ films: NetworkService, _ folder: URL) async throws {
    let target = folder.appendingPathComponent("film.mp4")
    let saved = try await films.request(FilmEndpoint.film(id: 7), as: .file(at: target, overwriting: .uniqueName))
    print(saved.lastPathComponent)

    // A download that goes on where it was: after a lost connection, a pause, the end of the app.
    let download = films.task(
        FilmEndpoint.film(id: 8), as: .file(at: target, overwriting: .replace, resuming: .sameAddress))
    download.onProgress { print($0.download.fraction ?? 0) }
    download.pause()  // settles nothing; the connection is closed
    download.resume()
    print(try await download.value.path)

    for try await event in films.events(FilmEndpoint.news) {  // goes on over lost connections, with Last-Event-ID
        print(event.type, event.data)  // leaving the loop closes the connection
    }
}

func makeResilient(_ environment: NetworkEnvironment, session: AccessTokenSupervisor) -> ProfileService {
    ProfileService(environment: environment, authorizedBy: session) {  // at most 64 requests a host at a time
        $0.retry = RetryPolicy(retries: 2, backoff: .exponential(first: .milliseconds(200)), jitter: .full)
        $0.retry?.budget = RetryPolicy.Budget()  // for at most a tenth of the calls
        $0.circuitBreaker = CircuitBreaker()  // half of ten calls in ten seconds failed: nothing for thirty
        $0.duplicates = .join  // equal GETs at a time share one request
        $0.cookies = CookieJar()  // none are kept otherwise
    }
}

struct Transfer: Endpoint {
    let path: EndpointPath = "transfers"
    let method = HTTPMethod.post
    let idempotencyKey = IdempotencyKey.unique  // so that this POST may be sent again

    var settings: RequestSettings {
        RequestSettings {
            $0.priority = .high
            $0.retry = RetryPolicy(retries: 5, backoff: .constant(.seconds(1)))
        }
    }
}

func watch(
    _ session: AccessTokenSupervisor, store: @escaping @MainActor @Sendable (AccessToken?) -> Void
) -> ObservationToken {
    session.events.observe { event in
        switch event {
        case .refreshed(let token): store(token)
        case .unreachable: break  // the session is kept; the next refused call tries again
        case .sessionOver: store(nil)
        case .notStored: break  // only with an AccessTokenStore, for sessions that several processes share
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

    let task = profiles.task(ProfileEndpoint.fetch(id: 7), as: .json(Profile.self))
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

// LoopbackResponse(.unauthorized) answers a status; try await request.json(Profile.self) reads a body.
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
        ProfileEndpoint.fetch(id: 7), with: RequestSettings(timeouts: HTTPRequest.Timeouts(total: .seconds(3))))
    print(response.status, response.headers[.eTag] ?? "no version", response.value.name)
}

#if os(Linux)
    func exampleOfAnEngine(_ api: URL, _ companyAuthority: URL, _ pin: TLSConfiguration.Pin) throws -> ProfileService {
        var configuration = CurlTransport.Configuration()
        configuration.tls = TLSConfiguration(trust: .file(companyAuthority), pins: [pin])
        configuration.proxy = .direct
        configuration.limits.connectionsPerHost = 16
        configuration.httpVersions = .preferHTTP2  // the default; .http1, or .http2 only
        configuration.resolve = ["api.example.com:443": ["10.0.0.7"]]
        let transport = try CurlTransport(configuration)
        let profiles = ProfileService(environment: NetworkEnvironment(baseURL: api)) {
            $0.transport = transport
        }
        return profiles
    }
#endif

func exampleOfWatching(_ profiles: ProfileService, _ file: URL) async throws {
    let recorder = HARRecorder()
    let tokens = [
        profiles.observers.register(LogObserver { line in print(line) }),
        profiles.observers.register(recorder),
        profiles.observers.onFinish { call, report in
            if report.status?.isServerError == true { print(report.waterfall) }
        },
    ]
    let response = try await profiles.send(ProfileEndpoint.fetch(id: 7), as: .json(Profile.self))
    print(response.http.request.curlCommand(), response.report.attributes)
    try recorder.archive.encoded().write(to: file)  // for a browser's developer tools
    for token in tokens { token.cancel() }
}
