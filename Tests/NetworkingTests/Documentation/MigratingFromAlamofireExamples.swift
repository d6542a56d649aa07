// The Swift blocks of MigratingFromAlamofire.md, unchanged. `DocumentationTests` compares them with the article.

import Foundation
import Networking
import NetworkingTesting

private enum AlamofireGuide {
    struct User: Codable, Sendable {
        let id: Int
        let name: String
    }

    static func simple(_ url: URL) async throws {
        // snippet.simple
        let api = NetworkService(environment: NetworkEnvironment(baseURL: url))
        let user: User = try await api.request(.get("users/7"))
        try await api.request(.post("users").body(.json(user)))
        let found: [User] = try await api.request(
            .get("users").query(["q": "ada"]).header("X-App", "1"))
        let text = try await api.request(.get("text"), as: .string)
        // snippet.end
        _ = (found, text)
    }

    static func judging(_ api: NetworkService) async throws {
        // snippet.judging
        let ok = try await api.request(
            .get("a").settings { $0.validators = [.status([200]), .mediaType(.json)] },
            as: .data)
        let hurried = try await api.request(
            .get("b").settings { $0.timeouts.total = .seconds(5) }, as: .data)
        let any = try await api.response(
            .get("c").settings { $0.validators = [] }, as: .data)
        // snippet.end
        _ = (ok, hurried, any)
    }

    static func files(_ api: NetworkService, _ source: URL, _ target: URL) async throws {
        // snippet.files
        let upload = api.task(.post("files").body(.file(source)), as: .void)
        upload.onProgress { progress in print(progress.upload.fraction ?? 0) }
        let form = api.task(
            .post("form").body(.multipart([.field("a", "b"), .file("f", at: source)])),
            as: .void)
        let download = api.task(
            .get("film"),
            as: .file(at: target, overwriting: .replace, resuming: .sameAddress))
        download.pause()
        download.resume()
        for try await line in try await api.request(.get("log"), as: .lines) {
            print(line)
        }
        // snippet.end
        _ = form
    }

    static func intercepting(_ url: URL, _ auth: NetworkService) {
        // snippet.intercepting
        // AuthenticationInterceptor
        let session = AccessTokenSupervisor(token: nil) { old in
            AccessToken(
                try await auth.request(
                    .post("token").body(.json(["token": old?.value]))))
        }
        let api = NetworkService(
            environment: NetworkEnvironment(baseURL: url), authorizedBy: session
        ) {
            $0.retry = .standard  // RetryPolicy
            $0.requestAdaptingService = RequestAdaptingService([
                HeadersAdapter(["X-A": "1"])
            ])
            $0.observers = [LogObserver { print($0) }]  // EventMonitor
        }
        // snippet.end
        _ = api
    }

    static func controlling(_ api: NetworkService) {
        // snippet.controlling
        let task = api.task(.get("slow"), as: .json(User.self))
        task.onSuccess { user in print(user.name) }.onFailure { error in print(error) }
        task.cancel()
        api.client.cancelAll()
        print(task.report?.waterfall ?? "", task.request?.curlCommand() as Any)
        // snippet.end
    }

    // snippet.target
    enum UserTarget: Endpoint {  // TargetType
        case user(Int)
        case create(name: String)

        var path: EndpointPath {
            switch self {
            case .user(let id): "users/\(id)"
            case .create: "users"
            }
        }

        var method: HTTPMethod { if case .create = self { .post } else { .get } }
        var body: HTTPBody {
            if case .create(let name) = self {
                .json(["name": name])
            } else {
                .empty
            }
        }
        // AccessTokenAuthorizable
        var authorizationType: AuthorizationType { .bearer }
    }

    // MoyaProvider<UserTarget>
    final class UserService: NetworkService, @unchecked Sendable {
        func names() async throws -> [String] {
            try await request(
                .get("users"), as: .keyPath("data.names", .json([String].self)))
        }
    }
    // snippet.end

    static func stubbing(_ environment: NetworkEnvironment) async throws {
        // snippet.stubbing
        let examples = [
            EndpointExample(
                UserTarget.user(7), response: .json(["name": "Ada"]),
                as: .json([String: String].self))
        ]  // sampleData
        let stub = try await StubTransport(examples: examples, in: environment)
        let users = UserService(environment: environment) { $0.transport = stub }
        // Checks that each request can be built and each response be read.
        try await EndpointContract.check(examples, in: environment)
        // snippet.end
        _ = users
    }

    static func reachable() -> ObservationToken {
        // snippet.reachable
        let reachability = ReachabilityService(host: "api.example.com")
        let token = reachability.statuses.observe { status in print(status) }
        reachability.startMonitoring()
        // snippet.end
        return token
    }
}
