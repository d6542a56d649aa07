// The Swift blocks of several articles, unchanged. `DocumentationTests` compares them with the articles.

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
        case .search(let text, let page): ["q": text, "page": page]  // an item with the value nil is left out
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

func makeProfilesOfChains(
    _ environment: NetworkEnvironment, session: AccessTokenSupervisor
) -> ProfileService {
    ProfileService(
        environment: environment,
        requestAdaptingService: RequestAdaptingService([
            session.adapter
        ]),
        errorHandlingService: ErrorHandlingService([
            session.handler, GeneralErrorHandler(),
        ]))
}

struct LoginError: Decodable, Sendable {
    let message: String
}

struct LogIn: TypedEndpoint {
    typealias ResponseValue = Grant  // the type of the response
    typealias ServerError = LoginError  // the type of the server's errors

    let name: String
    let password: String
    let path: EndpointPath = "login"
    let method = HTTPMethod.post
    var body: HTTPBody { .json(["name": name, "password": password]) }
}

func exampleOfAnswers(
    _ accounts: NetworkService, _ name: String, _ password: String
) async throws {
    do {
        let grant = try await accounts.request(
            LogIn(name: name, password: password))  // no type needed
        print(grant.token)
    } catch let error as ServerFailure<LoginError> {
        print(error.serverError.message, error.status ?? 0)
    }

    // A call without an endpoint type that reads a part of the response:
    let names = try await accounts.request(
        .get("users").query("page", 2).authorized(),
        as: .keyPath("data.names", .json([String].self)))
    print(names)

    // A running call, and calls that are derived from it:
    let user = accounts.task(.get("users/7"), as: .json(Profile.self))
    let photo = user.flatMap {
        accounts.task(.get("photos/\($0.id)"), as: .data)
    }
    photo.onStart { print("started") }.onAttempt { attempt in print(attempt) }
        .onSuccess { print($0.count) }.onFailure { print($0) }.onCancel {
            print("cancelled")
        }
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
        if case .list(let genre, let page) = self {
            .query(["genre": genre, "page": "\(page)"])
        } else {
            .none
        }
    }

    var body: HTTPBody {
        guard case .upload(let title, let file) = self else { return .empty }
        // The file is read while it is sent.
        return .multipart([.field("title", title), .file("film", at: file)])
    }
}

func exampleOfTransfers(_ films: NetworkService, _ folder: URL) async throws {
    let target = folder.appendingPathComponent("film.mp4")
    let saved = try await films.request(
        FilmEndpoint.film(id: 7),
        as: .file(at: target, overwriting: .uniqueName))
    print(saved.lastPathComponent)

    // Resumes after a lost connection, a pause, or a restart of the app.
    let download = films.task(
        FilmEndpoint.film(id: 8),
        as: .file(at: target, overwriting: .replace, resuming: .sameAddress))
    download.onProgress { print($0.download.fraction ?? 0) }
    download.pause()  // closes the connection; the call has not ended
    download.resume()
    print(try await download.value.path)

    // Reconnects with Last-Event-ID if the connection is lost.
    for try await event in films.events(FilmEndpoint.news) {
        print(event.type, event.data)  // leaving the loop closes the connection
    }
}
