// Runs the Swift blocks of Recipes.md on GraphQL and bridges to other libraries, and a block of Security.md, unchanged.
// `DocumentationTests` compares them with the articles.

import Foundation
import Networking
import NetworkingTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// snippet.graphQL
struct GraphQLError: Error, Decodable, Equatable {
    let message: String
}

struct GraphQLBody: Encodable, Sendable {
    let query: String
    let variables: [String: String]
}

struct GraphQLFailure: Decodable, Sendable {
    let errors: [GraphQLError]?
}

func graphQL<Value: Decodable & Sendable>(
    _ query: String, _ variables: [String: String], on service: NetworkService
) async throws -> Value {
    let body = GraphQLBody(query: query, variables: variables)
    let converter = ResponseConverter<Value> { response in
        // The errors first: with errors, `data` may be null or incomplete.
        let failure = try response.read(as: .json(GraphQLFailure.self))
        if let error = failure.errors?.first { throw error }
        return try response.read(
            as: .keyPath("data", .json(Value.self)))
    }
    // The error that the converter throws is the error of the call.
    return try await service.request(
        .post("graphql").body(.json(body)), as: converter)
}
// snippet.end

// snippet.swiftLog
/// `log` calls swift-log:
/// `logger.log(level: Logger.Level(rawValue: level) ?? .info, "\(message)")`.
func makeLog(
    _ log: @escaping @Sendable (_ level: String, _ message: String) -> Void
) -> LogObserver {
    LogObserver { line in log("\(line.level)", line.message) }
}
// snippet.end

// snippet.metrics
/// `record` calls swift-metrics: `Timer(label: "http.client.duration",
/// dimensions: [("route", route), ("status", status)]).recordSeconds(seconds)`.
func measure(
    _ service: NetworkService,
    record:
        @escaping @Sendable (
            _ route: String, _ status: String, _ seconds: Double
        ) -> Void
) -> ObservationToken {
    service.observers.onFinish { call, report in
        // The template of the path, such as `/users/{}`, without its values.
        let route = "\(call.endpoint.method) \(call.endpoint.urlTemplate)"
        let status = report.status.map { "\($0.code)" } ?? "none"
        record(route, status, report.duration / .seconds(1))
    }
}
// snippet.end

// snippet.background
/// Returns a request for a background session that the app creates.
func backgroundRequest(
    for endpoint: some Endpoint, of service: NetworkService
) async throws -> URLRequest {
    // The adapters run, and a valid token is added. Nothing is sent.
    let request = try await service.httpRequest(
        for: endpoint, refreshing: true)
    var copy = URLRequest(url: request.url)
    copy.httpMethod = request.method.rawValue
    for field in request.allHeaders {
        copy.addValue(field.value, forHTTPHeaderField: field.name.rawValue)
    }
    return copy
}
// snippet.end

// snippet.redaction
func makeAudited(
    _ api: NetworkEnvironment, write: @escaping @Sendable (String) -> Void
) -> NetworkService {
    let redaction = Redaction.standard.allowing(
        headers: ["X-Tenant"], query: ["page", "sort"])
    return NetworkService(environment: api) {
        // At this level, the lines contain queries and header fields.
        $0.observers = [
            LogObserver(level: .debug, redaction: redaction) { write("\($0)") }
        ]
    }
}
// snippet.end

@Suite("Recipes for GraphQL and bridges to other libraries", .endsInTime)
struct BridgeRecipeTests {
    @Test("A GraphQL response is a value or an error")
    func graphql() async throws {
        let stub = StubTransport()
        stub.on(
            .post, "/v1/graphql", .json(text: #"{"data":{"name":"Ada"}}"#),
            .json(text: #"{"data":null,"errors":[{"message":"no such user"}]}"#),
            .json(text: #"{"data":{"name":null},"errors":[{"message":"no such user"}]}"#))
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        let user: [String: String] = try await graphQL("query { user }", ["id": "7"], on: service)
        #expect(user == ["name": "Ada"])
        for _ in 0..<2 {
            await #expect(throws: GraphQLError(message: "no such user")) {
                let _: [String: String] = try await graphQL("query { user }", [:], on: service)
            }
        }
    }

    @Test("Calls are passed to logging and metrics libraries, and a redaction can allow more values in the log")
    func bridges() async throws {
        let lines = Box<[String]>([])
        let stub = StubTransport { _ in .text("there") }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.observers = [makeLog { level, message in lines.change { $0.append("\(level) \(message)") } }]
        }
        let statuses = Box<[String]>([])
        let token = measure(service) { route, status, seconds in
            statuses.change { $0.append("\(route) \(status)") }
            #expect(seconds >= 0)
        }
        _ = try await service.request(.get("stock"), as: .string)
        token.cancel()
        #expect(lines.value.first?.hasPrefix("info ") == true)
        #expect(statuses.value == ["GET /stock 200"])

        let audited = makeAudited(Fixture.environment) { line in lines.change { $0.append(line) } }
        let other = audited.client.with { $0.transport = stub }
        _ = try await NetworkService(client: other).request(.get("x").query(["page": 2, "name": "ada"]), as: .string)
        #expect(lines.value.contains { $0.contains("page=2") })
        #expect(!lines.value.contains { $0.contains("ada") })
    }

    @Test("A request for a background session carries the token")
    func background() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("t")) { _ in AccessToken("u") }
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session)
        let request = try await backgroundRequest(for: AdHocEndpoint(.get, "film").authorized(), of: service)
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer t")
    }
}
