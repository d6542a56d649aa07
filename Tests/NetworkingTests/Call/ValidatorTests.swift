import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Validators", .endsInTime)
struct ValidatorTests {
    private func failure(_ validators: [ResponseValidator], _ answer: StubResponse) async -> NetworkError? {
        let service = NetworkService(environment: Fixture.environment) { $0.transport = StubTransport { _ in answer } }
        return await Fixture.failure {
            try await service.request(UserEndpoint.open, with: RequestSettings { $0.validators = validators })
        } as? NetworkError
    }

    @Test("Statuses are validated against a range or a set; the error contains the status", .row("I-32"))
    func statuses() async {
        let teapot = StubResponse(HTTPStatus(418))
        #expect(await failure([.status([418])], teapot) == nil)
        #expect(await failure([.status(400..<500)], teapot) == nil)
        #expect(await failure([.status([.ok, HTTPStatus(418)])], teapot) == nil)
        let error = await failure([.status([.ok])], teapot)
        #expect(error?.kind == .unacceptableStatus && error?.status == HTTPStatus(418))
        #expect(error?.description.contains("418") == true)
    }

    @Test("A validator can require and forbid header fields", .row("I-33"))
    func headers() async {
        let answer = StubResponse(.ok, headers: ["A": "1", "B": "2"])
        #expect(await failure([.headers { $0["a"] == "1" && !$0.contains("C") }], answer) == nil)
        let error = await failure([.headers { $0["A"] == "2" }], answer)
        #expect(error?.kind == .invalidResponse)
        #expect(error?.description.contains("the header fields are not the expected ones") == true)
    }

    @Test(
        "Custom validators run in order; the first rejection ends the call with its reason", .row("I-34", "I-35"))
    func own() async {
        let asked = Box(0)
        let counting = ResponseValidator { _ in
            asked.change { $0 += 1 }
            return .valid
        }
        let answer = StubResponse(.ok)
        let error = await failure([counting, ResponseValidator { _ in .invalid("too blue") }, counting], answer)
        #expect(error?.description.contains("too blue") == true && asked.value == 1)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in answer }
            $0.settings = RequestSettings { $0.validators = [ResponseValidator { _ in throw UserError.taken }] }
        }
        let thrown = await Fixture.failure { try await service.request(UserEndpoint.open) }
        #expect(thrown as? UserError == .taken)
    }

    @Test("Without validators, every status is accepted", .row("I-36"))
    func none() async throws {
        #expect(await failure([], StubResponse(.internalServerError)) == nil)
        #expect(await failure([], StubResponse(.notFound)) == nil)
    }

    private struct Order: Endpoint {
        let path: EndpointPath = "orders"
        let authorizationType = AuthorizationType.bearer
    }

    @Test("A call that accepts every media type accepts a response without Content-Type")
    func acceptAnything() async throws {
        let stub = StubTransport { _ in StubResponse(.ok, body: Data("x".utf8)) }
        let service = NetworkService(
            environment: NetworkEnvironment(baseURL: Fixture.environment.baseURL, headers: [.accept: "*/*"])
        ) { $0.transport = stub }
        await #expect(throws: Never.self) { try await service.request(Order()) }
    }
}
