import Foundation
import Networking
import NetworkingTesting
import Testing

/// The examples of RonasIT Networking's documentation. The number after a name is the number of lines there.
@Suite("The examples of RonasIT Networking's documentation", .endsInTime)
struct RonasITExampleTests {
    struct Profile: Codable, Equatable, Sendable { let id: Int }
    struct Address: Codable, Sendable { let id: Int, street: String }
    struct Grant: Codable, Sendable { let accessToken: String, refreshToken: String }

    // example.endpoint 47
    enum ProfileEndpoint: Endpoint {
        case fetch(Profile.ID)
        case updateAddress(Address)
        case uploadImage(Data)

        var path: EndpointPath {
            switch self {
            case .fetch(let id): "profile/\(id)"
            case .updateAddress(let address): "profile/address/\(address.id)"
            case .uploadImage: "profile/image"
            }
        }

        var method: HTTPMethod { if case .fetch = self { .get } else { .post } }

        var body: HTTPBody {
            switch self {
            case .fetch: .empty
            case .updateAddress(let address): .form(address)
            case .uploadImage(let data): .multipart([.data("image", data, fileName: "image.jpg")])
            }
        }

        var authorizationType: AuthorizationType { .bearer }
    }
    // example.end

    // example.defaults 16
    let environment = NetworkEnvironment(
        baseURL: URL(string: "https://api.example.com"),
        headers: [.accept: "application/json", .contentType: "application/json"])
    // example.end

    // example.errors 26
    enum ProfileError: Error, Equatable { case notFound(id: String), imageTooLarge }

    enum MappedEndpoint: Endpoint {
        case profile(id: String)
        case uploadImage(Data)
        var path: EndpointPath { "profile" }

        func error(for status: HTTPStatus) -> (any Error)? {
            guard case .profile(let id) = self, status == .notFound else { return nil }
            return ProfileError.notFound(id: id)
        }

        func error(for code: URLError.Code) -> (any Error)? {
            guard case .uploadImage = self, code == .timedOut else { return nil }
            return ProfileError.imageTooLarge
        }
    }
    // example.end

    // example.adapter 12
    struct GeneralRequestAdapter: SynchronousRequestAdapter {
        func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
            request.headers["dpi"] = "@2x"
            request.headers.set(.userAgent(product: "Profiles", version: "1.0"))
        }
    }
    // example.end

    // example.logging 10
    struct LoggingErrorHandler: ErrorHandler {
        let log: @Sendable (String) -> Void
        func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
            log("\(failure.endpoint.path): \(failure.error), \(failure.status?.description ?? "no response")")
            return .next(failure.error)
        }
    }
    // example.end

    static func session(_ auth: NetworkService, _ stored: AccessToken?) -> AccessTokenSupervisor {
        // example.session 27
        AccessTokenSupervisor(token: stored) { old in
            guard let text = old?.refreshToken else { throw AccessToken.Rejected() }
            let grant: Grant = try await auth.request(.post("refresh").body(.json(["token": text])))
            return AccessToken(grant.accessToken, refreshToken: grant.refreshToken)
        }
        // example.end
    }

    final class ProfileService: NetworkService, @unchecked Sendable {}  // because an open class cannot be checked

    private let stub = StubTransport()

    private func service(_ session: AccessTokenSupervisor, _ log: Box<[String]>) -> ProfileService {
        let transport = stub
        // example.wiring 11
        let service = ProfileService(
            environment: environment,
            requestAdaptingService: RequestAdaptingService([
                GeneralRequestAdapter(), TokenRequestAdapter(accessTokenSupervisor: session),
            ]),
            errorHandlingService: ErrorHandlingService([
                UnauthorizedErrorHandler(accessTokenSupervisor: session),
                LoggingErrorHandler { text in log.change { $0.append(text) } },
            ]))
        // example.end
        return ProfileService(client: service.client.with { $0.transport = transport })
    }

    @Test("Plain, form and upload cases of one enumeration are sent by the two chains", .row("R-37"))
    func chains() async throws {
        stub.on(.post, nil, .status(.conflict))
        stub.on(.post, "/refresh", .json(["accessToken": "new", "refreshToken": "b"]))
        stub.on(.get, "/profile/7") { request in
            request.headers[.authorization] == "Bearer new" ? .json(Profile(id: 7)) : .status(.unauthorized)
        }
        let transport = stub
        let auth = NetworkService(environment: environment) { $0.transport = transport }
        let log = Box<[String]>([])
        let service = service(Self.session(auth, AccessToken("old", refreshToken: "a")), log)
        let profile: Profile = try await service.request(ProfileEndpoint.fetch(7))
        #expect(profile == Profile(id: 7))
        #expect(stub.requests.last?.headers["dpi"] == "@2x")
        await #expect(throws: NetworkError.self) {
            try await service.request(ProfileEndpoint.uploadImage(Data([1])))
        }
        #expect(stub.requests.last?.allHeaders.contentType?.withoutParameters == MediaType("multipart", "form-data"))
        await #expect(throws: NetworkError.self) {
            try await service.request(ProfileEndpoint.updateAddress(Address(id: 3, street: "A")))
        }
        #expect(stub.requests.last?.body.data == Data("id=3&street=A".utf8))
        #expect(log.value.count == 2 && log.value[0].hasPrefix("profile/image: "))
    }

    @Test("An endpoint maps its statuses and failures to its own errors")
    func mapping() async throws {
        stub.on(.get, nil) { _ in .status(.notFound) }
        let transport = stub
        let service = NetworkService(environment: environment) { $0.transport = transport }
        await #expect(throws: ProfileError.notFound(id: "x")) {
            try await service.request(MappedEndpoint.profile(id: "x"))
        }
        stub.on(.get, nil) { _ in .failure(URLError(.timedOut)) }
        await #expect(throws: ProfileError.imageTooLarge) {
            try await service.request(MappedEndpoint.uploadImage(Data()))
        }
    }

    @Test("Reachability is observed by a closure until its token is cancelled")
    func reachability() async throws {
        let probe = StubProbe(.reachable(.wireless))
        let (seen, see) = AsyncStream.makeStream(of: Bool.self)
        // example.reachability 13
        let reachability = ReachabilityService(probe: probe)
        let token = reachability.statuses.observe { status in see.yield(status.isReachable) }
        let isAvailable = { reachability.isReachable }
        // example.end
        for await isReachable in seen where isReachable { break }
        #expect(isAvailable())
        token.cancel()
    }

    @Test("A call is cancelled by one line")
    func cancelling() async throws {
        let transport = stub
        let (failures, fail) = AsyncStream.makeStream(of: (any Error).self)
        stub.on(.get, nil) { _ in
            try await Task.sleep(for: .seconds(60))
            return .status(.ok)
        }
        let service = NetworkService(environment: environment) { $0.transport = transport }
        let request = service.request(for: ProfileEndpoint.fetch(7), success: {}, failure: { fail.yield($0) })
        // example.cancel 1
        request.cancel()
        // example.end
        for await error in failures {
            #expect((error as? GeneralRequestError) == .cancelled)
            break
        }
    }
}

extension RonasITExampleTests.Profile: Identifiable {}
