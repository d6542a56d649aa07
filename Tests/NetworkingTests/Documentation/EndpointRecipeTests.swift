// Runs, unchanged, the Swift blocks about endpoints from Recipes.md and Endpoints.md. `DocumentationTests` compares
// them with the articles.

import Foundation
import Networking
import NetworkingTesting
import Testing

// snippet.propertyLists
struct PropertyListFormat: BodyDecoder, BodyEncoder {
    let mediaType = MediaType("application", "x-plist")

    func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data
    ) throws -> Value {
        try PropertyListDecoder().decode(type, from: data)
    }

    func encode<Value: Encodable>(_ value: Value) throws -> Data {
        try PropertyListEncoder().encode(value)
    }
}
// snippet.end

// snippet.authorizeAll
enum AccountEndpoint: Endpoint {
    case logIn(name: String, password: String)
    case profile

    var path: EndpointPath {
        switch self {
        case .logIn: "login"
        case .profile: "profile"
        }
    }

    var method: HTTPMethod { if case .logIn = self { .post } else { .get } }

    var body: HTTPBody {
        if case .logIn(let name, let password) = self {
            .json(["name": name, "password": password])
        } else {
            .empty
        }
    }

    var authorizationType: AuthorizationType {
        if case .logIn = self { .none } else { .inherited }
    }
}

func makeAccounts(_ api: NetworkEnvironment, _ session: AccessTokenSupervisor)
    -> NetworkService
{
    NetworkService(environment: api, authorizedBy: session) {
        // Applies to endpoints whose authorization type is `.inherited`.
        $0.settings.authorizationType = .bearer
    }
}
// snippet.end

// snippet.uploads
enum AvatarEndpoint: Endpoint {
    case fetch
    case rename(to: String)
    case change(Data, caption: String)

    var path: EndpointPath { "avatar" }
    var method: HTTPMethod { if case .fetch = self { .get } else { .post } }

    var body: HTTPBody {
        switch self {
        case .fetch: .empty
        // application/x-www-form-urlencoded
        case .rename(let name): .form(["name": name])
        case .change(let jpeg, let caption):
            .multipart([
                .data("photo", jpeg, fileName: "photo.jpg"),
                .field("caption", caption),
            ])
        }
    }
}
// snippet.end

// snippet.catalog
enum CatalogCall {
    case list(page: Int)
    case item(id: Int)
    case add(name: String)
}

extension CatalogCall: Endpoint {
    var path: EndpointPath {
        switch self {
        case .list, .add: "items"
        case .item(let id): "items/\(id)"
        }
    }

    var method: HTTPMethod { if case .add = self { .post } else { .get } }
    var query: URLQuery {
        if case .list(let page) = self { ["page": page] } else { [:] }
    }
    var body: HTTPBody {
        if case .add(let name) = self { .json(["name": name]) } else { .empty }
    }
    var settings: RequestSettings {
        RequestSettings {
            if case .list = self { $0.timeouts.total = .seconds(5) }
        }
    }
}
// snippet.end

@Suite("Recipes for endpoints", .endsInTime)
struct EndpointRecipeTests {
    @Test("A service sends and reads property lists")
    func propertyLists() async throws {
        let stub = StubTransport { request in
            StubResponse(headers: [.contentType: "application/x-plist"], body: request.body.data ?? Data())
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            ($0.settings.decoder, $0.settings.encoder) = (PropertyListFormat(), PropertyListFormat())
        }
        let sent: [String: Int] = try await service.request(.post("x").body(.encoded(["a": 1])))
        #expect(sent == ["a": 1])
        #expect(stub.requests[0].allHeaders[.contentType] == "application/x-plist")
        #expect(stub.requests[0].headers[.accept] == "application/x-plist")
    }

    private let stub = StubTransport()
    private var api: NetworkEnvironment { Fixture.environment }

    private var service: NetworkService {
        NetworkService(environment: api) { $0.transport = stub }
    }

    @Test("Every call except the login is authorized")
    func authorizeAll() async throws {
        stub.on(nil, nil, .status(.ok))
        let session = AccessTokenSupervisor(token: AccessToken("one"), clock: Fixture.stillClock) { _ in
            throw AccessToken.Rejected()  // the session is over
        }
        let client = makeAccounts(api, session).client.with { $0.transport = stub }
        let service = NetworkService(client: client)
        try await service.request(AccountEndpoint.logIn(name: "a", password: "b"))
        try await service.request(AccountEndpoint.profile)
        #expect(stub.requests.map { $0.headers[.authorization] } == [nil, "Bearer one"])
    }

    @Test("An enumeration of uploads has cases with and without images")
    func uploads() async throws {
        stub.on(nil, nil, .status(.ok))
        for endpoint in [AvatarEndpoint.fetch, .rename(to: "Ada"), .change(Data("jpeg".utf8), caption: "me")] {
            try await service.request(endpoint)
        }
        let types = stub.requests.map { $0.body.headers.contentType?.withoutParameters.description }
        #expect(types == [nil, "application/x-www-form-urlencoded", "multipart/form-data"])
    }

    @Test("The examples of the article on endpoints pass the contract check")
    func contract() async throws {
        let examples = [
            EndpointExample(CatalogCall.list(page: 1)),
            EndpointExample(CatalogCall.item(id: 7)),
            EndpointExample(CatalogCall.add(name: "Chair")),
        ]
        try await EndpointContract.check(examples, in: api)
    }
}
