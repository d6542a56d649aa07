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

func exampleOfTasks(_ accounts: NetworkService) async throws {
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
