import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("How often a call reads the properties of its endpoint", .endsInTime)
struct EndpointReadTests {
    /// Counts how often each property is read.
    private final class Reads: Sendable {
        private let counts = Box<[String: Int]>([:])

        func note(_ property: String = #function) { counts.change { $0[property, default: 0] += 1 } }

        /// The properties that were not read exactly once, with their numbers.
        var wrong: [String: Int] {
            let all =
                ["baseURL", "path", "method", "headers", "query", "body", "parameters", "authorizationType"]
                + ["idempotencyKey", "settings"]
            let counts = counts.value
            return Dictionary(uniqueKeysWithValues: all.map { ($0, counts[$0, default: 0]) }).filter { $1 != 1 }
        }
    }

    private struct Counted: Endpoint {
        let reads = Reads()
        var baseURL: URL {
            reads.note()
            return NetworkEnvironment.noBaseURL
        }
        var path: EndpointPath {
            reads.note()
            return "x"
        }
        var method: HTTPMethod {
            reads.note()
            return .get
        }
        var headers: HTTPHeaders {
            reads.note()
            return [:]
        }
        var query: URLQuery {
            reads.note()
            return [:]
        }
        var body: HTTPBody {
            reads.note()
            return .empty
        }
        var parameters: RequestParameters {
            reads.note()
            return .none
        }
        var authorizationType: AuthorizationType {
            reads.note()
            return .bearer
        }
        var idempotencyKey: IdempotencyKey {
            reads.note()
            return .none
        }
        var settings: RequestSettings {
            reads.note()
            return RequestSettings { $0.retry = RetryPolicy(retries: 1) }
        }
    }

    private struct CountedTyped: TypedEndpoint {
        typealias ResponseValue = [String: Int]
        let counted = Counted()
        var baseURL: URL { counted.baseURL }
        var path: EndpointPath { counted.path }
        var method: HTTPMethod { counted.method }
        var headers: HTTPHeaders { counted.headers }
        var query: URLQuery { counted.query }
        var body: HTTPBody { counted.body }
        var parameters: RequestParameters { counted.parameters }
        var authorizationType: AuthorizationType { counted.authorizationType }
        var idempotencyKey: IdempotencyKey { counted.idempotencyKey }
        var settings: RequestSettings { counted.settings }
    }

    private let service: NetworkService

    /// The server fails once, and refuses the token once.
    init() {
        let stub = StubTransport()
        stub.on(nil, nil, .status(.serviceUnavailable), .status(.unauthorized), .text("{\"a\": 1}"))
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
            AccessToken("new")
        }
        service = NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = stub
            $0.cache = ResponseCache(clock: Fixture.stillClock)
        }
    }

    @Test("A call whose type determines how its response is read reads each property once, with a retry and a refresh")
    func inferred() async throws {
        let endpoint = Counted()
        let value: [String: Int] = try await service.request(endpoint)
        #expect(value == ["a": 1] && endpoint.reads.wrong == [:])
    }

    @Test("So does the call of a typed endpoint")
    func typed() async throws {
        let endpoint = CountedTyped()
        #expect(try await service.request(endpoint) == ["a": 1])
        #expect(endpoint.counted.reads.wrong == [:])
    }

    @Test("So do a task and the task of a typed endpoint")
    func task() async throws {
        let endpoint = Counted()
        _ = try await service.task(endpoint, as: .data).value
        #expect(endpoint.reads.wrong == [:])
        let typed = CountedTyped()
        _ = try await service.task(typed).value
        #expect(typed.counted.reads.wrong == [:])
    }

    @Test("So do a call with closures, and a request that is only created")
    func others() async throws {
        let endpoint = Counted()
        let ended = Settlement<[String: Int]>()
        service.request(for: endpoint) {
            ended.settle(.success($0))
        } failure: {
            ended.settle(.failure($0))
        }
        #expect(try await ended.value() == ["a": 1] && endpoint.reads.wrong == [:])
        let created = Counted()
        _ = try await service.httpRequest(for: created)
        #expect(created.reads.wrong == [:])
    }

    @Test("Looking for a stored response reads each property once")
    func stored() {
        let endpoint = Counted()
        let typed = CountedTyped()
        #expect(service.cachedResponse(endpoint, as: .data) == nil && service.cachedResponse(typed) == nil)
        #expect(endpoint.reads.wrong == [:] && typed.counted.reads.wrong == [:])
    }
}
