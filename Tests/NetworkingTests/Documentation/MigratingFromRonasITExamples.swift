// The Swift blocks of MigratingFromRonasIT.md, unchanged. `DocumentationTests` compares them with the article.

import Foundation
import Networking

private enum RonasITGuide {
    struct User: Codable, Sendable {
        let id: Int
        let name: String
    }

    // snippet.endpoint
    enum UserError: Error {
        case unknownUser
        case offline
    }

    enum AccountEndpoint: Endpoint {
        case user(id: Int)
        case rename(id: Int, name: String)
        case search(text: String, page: Int)

        var path: EndpointPath {
            switch self {
            case .user(let id), .rename(let id, _): "users/\(id)"
            case .search: "users"
            }
        }

        var method: HTTPMethod { if case .rename = self { .patch } else { .get } }
        var headers: HTTPHeaders {
            [
                .userAgent(product: "Accounts", version: "1.0.0"),
                HTTPHeader("dpi", "@2x"),
            ]
        }
        var authorizationType: AuthorizationType { .bearer }

        var parameters: RequestParameters {
            switch self {
            case .user: .none
            case .rename(_, let name): .json(["name": name])
            case .search(let text, let page):
                .query(["q": text, "page": page])
            }
        }

        func error(for status: HTTPStatus) -> (any Error)? {
            status == .notFound ? UserError.unknownUser : nil
        }
        func error(for code: URLError.Code) -> (any Error)? {
            code == .notConnectedToInternet ? UserError.offline : nil
        }
    }
    // snippet.end

    static func parameters() {
        // snippet.parameters
        // By default, Booleans are `true` and `false`.
        let encoder = URLQueryEncoder(arrays: .brackets, booleans: .numeric)
        let parameters: [RequestParameters] = [
            .methodDependent(["page": 2]), .query(["page": 2], encoder: encoder),
            .form(["a": "b", "page": 2]), .json(["a": "b", "page": 2]),
        ]
        // snippet.end
        _ = parameters
    }

    static func requests(_ accounts: NetworkService) {
        // snippet.requests
        accounts.request(
            for: AccountEndpoint.user(id: 7),
            // Data, String, a Decodable type, or nothing.
            success: { (user: User) in print(user.name) },
            failure: { error in print(error) })
        accounts.request(
            for: AccountEndpoint.user(id: 7),
            success: { (response: Response<User>) in
                print(response.http.status, response.http.headers)
            },
            failure: { error in print(error) })
        let request = accounts.request(
            for: AccountEndpoint.user(id: 7), as: .jsonObject,
            success: { object in print(object["name"] as Any) },
            failure: { error in print(error) })
        print(request.cancel(), request.cancel())  // true, false
        // snippet.end
    }

    // snippet.upload
    struct ChangeAvatar: Endpoint {
        let image: Data

        let path: EndpointPath = "avatar"
        let method = HTTPMethod.put
        var body: HTTPBody {
            .multipart([
                .data("photo", image, fileName: "photo.jpg"),
                .field("crop", true), .field("scale", 1.5),
            ])
        }
    }
    // snippet.end

    static func uploading(_ accounts: NetworkService, _ image: Data, _ document: URL) {
        // snippet.uploading
        accounts.request(
            for: ChangeAvatar(image: image), success: { print("done") },
            failure: { error in print(error) }
        ).onProgress { progress in print(progress.upload.fraction ?? 0) }
        let form = HTTPBody.multipart([
            .file("document", at: document), .field("title", "Contract"),
        ])
        // snippet.end
        _ = form
    }

    static func serializers() {
        // snippet.serializers
        struct Weather: Sendable { let degrees: Int }
        let weather = ResponseConverter<Weather> { response in
            guard let degrees = Int(try response.read(as: .string)) else {
                throw URLError(.cannotParseResponse)
            }
            return Weather(degrees: degrees)
        }
        let latin = ResponseConverter.string(encoding: .isoLatin1)
        // snippet.end
        _ = (weather, latin)
    }

    // snippet.adapting
    struct TenantAdapter: RequestAdapter {
        let tenant: String

        func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint)
            async throws
        {
            request.headers["X-Tenant"] = tenant  // or wait for something
        }
    }
    // snippet.end

    static func session(
        _ api: URL, _ auth: NetworkService, _ stored: AccessToken?,
        _ showLogIn: @escaping @MainActor @Sendable () -> Void
    ) {
        // snippet.session
        let session = AccessTokenSupervisor(token: stored) { old in
            AccessToken(
                try await auth.request(
                    .post("token").body(.json(["token": old?.value]))))
        }
        let accounts = NetworkService(
            environment: NetworkEnvironment(baseURL: api),
            requestAdaptingService: RequestAdaptingService([
                TenantAdapter(tenant: "a"),
                TokenRequestAdapter(accessTokenSupervisor: session),
            ]),
            errorHandlingService: ErrorHandlingService([
                UnauthorizedErrorHandler(accessTokenSupervisor: session),
                GeneralErrorHandler(),
            ]))
        let ended = session.events.observe { event in
            if case .sessionOver = event { showLogIn() }
        }
        // snippet.end
        _ = (accounts, ended)
    }

    // snippet.handling
    struct MaintenanceHandler: ErrorHandler {
        func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
            switch failure.status {
            case .serviceUnavailable: .retry(after: .seconds(2))
            case .gone: .fail(UserError.unknownUser)
            default: .next(failure.error)  // the next handler decides
            }
        }
    }
    // snippet.end

    static func errors(_ accounts: NetworkService) async {
        // snippet.errors
        do {
            try await accounts.request(AccountEndpoint.user(id: 7))
        } catch GeneralRequestError.noInternetConnection {
            print("offline")
        } catch UserError.unknownUser {
            print(HTTPStatus.notFound.code, HTTPStatus(520).isServerError)
        } catch {
            print(error)
        }
        // snippet.end
    }

    static func reachability() -> ObservationToken {
        // snippet.reachability
        let reachability = ReachabilityService()  // or `host:`
        let token = reachability.statuses.observe { status in print(status.isReachable)
        }
        reachability.startMonitoring()
        print(reachability.isReachable)
        // snippet.end
        return token
    }
}
