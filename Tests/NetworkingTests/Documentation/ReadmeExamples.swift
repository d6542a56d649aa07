// The Swift blocks of README.md, unchanged. `DocumentationTests` compares them with README.md.

import Foundation
import Networking
import NetworkingTesting
import Testing

struct Track: Codable, Sendable {
    let id: Int
    let title: String
}

enum TrackEndpoint {
    case track(id: Int)
    case rename(id: Int, to: String)
}

extension TrackEndpoint: Endpoint {
    var path: EndpointPath {
        switch self {
        case .track(let id), .rename(let id, _): "tracks/\(id)"
        }
    }

    var method: HTTPMethod { if case .rename = self { .patch } else { .get } }

    var body: HTTPBody {
        guard case .rename(_, let title) = self else { return .empty }
        return .json(["title": title])
    }

    var authorizationType: AuthorizationType { .bearer }
}

final class TrackService: NetworkService, @unchecked Sendable {
    func track(_ id: Int) async throws -> Track {
        try await request(TrackEndpoint.track(id: id))
    }
}

struct TrackGrant: Decodable {
    let token: String
    let refreshToken: String
}

func makeSession(
    _ api: NetworkEnvironment, stored: AccessToken?
) -> AccessTokenSupervisor {
    let auth = NetworkService(environment: api)
    return AccessTokenSupervisor(token: stored) { old in
        guard let text = old?.refreshToken else { throw AccessToken.Rejected() }
        let call = AdHocEndpoint(.post, "token").body(.json(["refresh": text]))
        let grant: TrackGrant = try await auth.request(call)
        return AccessToken(grant.token, refreshToken: grant.refreshToken)
    }
}

struct VersionAdapter: RequestAdapter {
    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
        request.headers["X-App-Version"] = "3.1"
    }
}

enum TrackError: Error { case subscriptionRequired }

struct SubscriptionHandler: ErrorHandler {
    func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        failure.status == .paymentRequired
            ? .fail(TrackError.subscriptionRequired) : .next(failure.error)
    }
}

func makeTracks(
    _ api: NetworkEnvironment, _ session: AccessTokenSupervisor
) -> TrackService {
    TrackService(
        environment: api,
        requestAdaptingService: RequestAdaptingService([
            VersionAdapter(),
            TokenRequestAdapter(accessTokenSupervisor: session),
        ]),
        errorHandlingService: ErrorHandlingService([
            UnauthorizedErrorHandler(accessTokenSupervisor: session),
            SubscriptionHandler(),
            GeneralErrorHandler(),
        ]))
}

func makeTracksInShort(
    _ api: NetworkEnvironment, _ session: AccessTokenSupervisor
) -> TrackService {
    TrackService(environment: api, authorizedBy: session) {
        $0.retry = .standard  // two retries, if repeating is safe
    }
}

@MainActor final class Banner {
    var isHidden = true
    private var observation: ObservationToken?

    func observe(_ reachability: ReachabilityService) {
        observation = reachability.statuses.observe { [weak self] status in
            self?.isHidden = status.isReachable
        }
    }
}

func show(_ tracks: TrackService) async {
    do {
        print(try await tracks.track(7).title)
    } catch GeneralRequestError.notFound {
        print("there is no such track")
    } catch GeneralRequestError.noInternetConnection {
        print("you are offline")
    } catch {
        print(error)  // GET …/tracks/7: 503 Service Unavailable (3 attempts;…)
    }
}

@Test func aTrackIsReadAfterARetry() async throws {
    let stub = StubTransport()
    let track = Track(id: 7, title: "Blue")
    stub.on(.get, "/tracks/7", .status(.serviceUnavailable), .json(track))
    let api = NetworkEnvironment(baseURL: URL(string: "https://example.com"))
    let tracks = TrackService(environment: api) {
        $0.transport = stub
        $0.retry = RetryPolicy(retries: 1)
    }
    #expect(try await tracks.track(7).title == "Blue")
}
