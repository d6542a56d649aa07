import Foundation
import Networking

// The app that `AppTests` runs. Like a real app, it imports only the library. `.ci/isolation` type-checks this file in
// Swift 6 mode, in Swift 5 mode, and with the main actor as the default isolation. Only the last mode needs
// `nonisolated`: on services, endpoints, decoded models, adapters and handlers, because they are used on any thread.

/// The objects that live as long as the app.
nonisolated struct App: Sendable {
    let reachability: ReachabilityService
    let profiles: AccountService
    let log = LoggingErrorHandler()

    init(_ url: URL) {
        let environment = NetworkEnvironment(baseURL: url)
        let auth = SessionService(environment: environment)
        let session = AccessTokenSupervisor(token: AccessToken("expired", refreshToken: "first")) { old in
            try await auth.refresh(old)
        }
        let log = log
        reachability = ReachabilityService(host: url.host ?? "", port: UInt16(url.port ?? 443), interval: .seconds(1))
        profiles = AccountService(environment: environment, authorizedBy: session) {
            $0.requestAdaptingService = RequestAdaptingService([AppAdapter()])
            $0.errorHandlingService = ErrorHandlingService([log])
        }
    }
}

nonisolated struct Profile: Codable, Sendable {
    let name: String
}

nonisolated enum ProfileError: String, Error, LocalizedError {
    case unknown = "No such profile"

    var errorDescription: String? { rawValue }
}

/// Plain calls, calls with parameters and uploads in one enumeration.
nonisolated enum AccountEndpoint {
    case fetch(Int)
    case update(city: String)
    case upload(Data)
}

nonisolated extension AccountEndpoint: Endpoint {
    var path: EndpointPath {
        switch self {
        case .fetch(let id): "profile/\(id)"
        case .update: "profile/address"
        case .upload: "profile/photo"
        }
    }

    var method: HTTPMethod { if case .fetch = self { .get } else { .post } }
    var authorizationType: AuthorizationType { .bearer }
    var parameters: RequestParameters { if case .update(let city) = self { .form(["city": city]) } else { .none } }

    var body: HTTPBody {
        guard case .upload(let data) = self else { return .empty }
        return .multipart([.data("photo", data, fileName: "photo.jpg")])
    }

    func error(for status: HTTPStatus) -> (any Error)? { status == .notFound ? ProfileError.unknown : nil }
}

nonisolated final class AccountService: NetworkService, @unchecked Sendable {}

nonisolated final class SessionService: NetworkService, @unchecked Sendable {
    func refresh(_ old: AccessToken?) async throws -> AccessToken {
        let token = try await request(.post("token").body(.string(old?.refreshToken ?? "")), as: .string)
        return AccessToken(token, refreshToken: "next")
    }
}

nonisolated struct AppAdapter: RequestAdapter {
    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
        request.headers["X-App"] = "app"
    }
}

nonisolated struct LoggingErrorHandler: ErrorHandler {
    let lines = Lines()

    func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        let place = failure.request.map { "\($0.method) \($0.url.path)" } ?? "not sent"
        lines.append("\(place): \(failure.status?.code ?? 0)")
        return .next(failure.error)
    }
}

/// The logged lines. They can be appended on any thread.
nonisolated final class Lines: @unchecked Sendable {  // because of the lock around its variable
    private let lock = NSLock()
    private var stored: [String] = []

    var all: [String] { lock.withLock { stored } }

    func append(_ line: String) {
        lock.withLock { stored.append(line) }
    }
}

@MainActor
final class Label {
    var text = ""
}

@MainActor
final class Banner {
    var isHidden = true
}

@MainActor
final class RootViewController {
    let banner = Banner()
    private var observation: ObservationToken?

    init(_ reachability: ReachabilityService) {
        observation = reachability.statuses.observe(replayingCurrent: true) { [weak self] status in
            self?.banner.isHidden = status.isReachable
        }
    }
}

@MainActor
final class ProfileViewController {
    let label = Label()
    private let service: AccountService
    private weak var request: (any CancellableRequest)?

    init(_ service: AccountService) {
        self.service = service
    }

    var isLoading: Bool { request != nil }

    func load() {
        request = service.request(
            for: AccountEndpoint.fetch(7),
            success: { [weak self] (profile: Profile) in self?.label.text = profile.name },
            failure: { [weak self] in self?.label.text = $0.localizedDescription })
    }
}

@MainActor
final class UploadViewController {
    let label = Label()
    private let service: AccountService
    private weak var request: (any CancellableRequest)?

    init(_ service: AccountService) {
        self.service = service
    }

    func save(city: String) {
        request = service.request(
            for: AccountEndpoint.update(city: city), success: { [weak self] in self?.label.text = "saved \(city)" },
            failure: { [weak self] in self?.label.text = $0.localizedDescription })
    }

    func upload(_ data: Data) {
        let task = service.task(AccountEndpoint.upload(data), as: .string)
        task.onProgress { [weak self] in self?.label.text = "\($0.upload.completed)" }
            .onSuccess { [weak self] in self?.label.text = $0 }
            .onFailure { [weak self] in self?.label.text = $0.localizedDescription }
        request = task
    }

    func fail() {
        request = service.request(
            for: AccountEndpoint.fetch(404), success: { [weak self] in self?.label.text = "found" },
            failure: { [weak self] in self?.label.text = $0.localizedDescription })
    }
}
