import Foundation
import Networking
import NetworkingTesting
import Testing

@Suite("Errors of the server, and texts about bodies", .endsInTime)
struct ServerErrorTests {
    private struct ShopError: Decodable, Equatable, Sendable {
        let errorCode: Int
    }

    private struct OtherError: Decodable, Sendable {
        let errorCode: Int
    }

    private struct Buy: TypedEndpoint {
        typealias ResponseValue = String
        typealias ServerError = OtherError

        let path: EndpointPath = "buy"
    }

    private struct Count: Decodable, Sendable { let n: Int }
    private enum Status: String, Decodable, Sendable { case open }

    private let stub = StubTransport()

    private func service(_ configure: (inout NetworkConfiguration) -> Void = { _ in }) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            configure(&$0)
        }
    }

    private func text<Value: Decodable & Sendable>(_ response: StubResponse, _ type: Value.Type) async -> String? {
        stub.on(nil, nil, response)
        let error = await Fixture.failure { _ = try await service().request(.get("x"), as: .json(type)) }
        return (error as? NetworkError)?.reason
    }

    @Test("A service names one type for the errors of its server, read with its decoder")
    func serverError() async throws {
        stub.on(.get, nil, .json(text: #"{"error_code":7}"#, status: .conflict))
        stub.on(.post, nil, .text("<html>", status: .conflict))
        stub.on(.put, nil, .text("<html>", status: .notFound))
        let kinds = Box<[Int?]>([])
        let service = service {
            $0.serverError = ShopError.self
            $0.settings.decoder = .json { $0.keyDecodingStrategy = .convertFromSnakeCase }
            $0.errorHandlingService = ErrorHandlingService([
                AdHocErrorHandler { failure in
                    kinds.change { $0.append((failure.serverError as? ShopError)?.errorCode) }
                    #expect(failure.read(ShopError.self)?.errorCode == kinds.value.last)
                    return .next(failure.error)
                }
            ])
        }
        let error = await Fixture.failure { try await service.request(.get("x")) } as? ServerFailure<ShopError>
        #expect(error?.serverError == ShopError(errorCode: 7) && error?.status == .conflict)
        let undecodable = await Fixture.failure { try await service.request(.post("x")) }
        #expect((undecodable as? NetworkError)?.status == .conflict)
        let missing = await Fixture.failure { try await service.request(.put("x")) } as? GeneralRequestError
        #expect(missing?.code == .notFound && missing?.cause?.status == .notFound, "N-50")
        #expect(kinds.value == [7, nil, nil])
    }

    @Test("The error type of an endpoint or of a call takes precedence over that of the service")
    func precedence() async {
        stub.on(nil, nil, .json(text: #"{"errorCode":7}"#, status: .conflict))
        let service = service { $0.serverError = ShopError.self }
        let typed = await Fixture.failure { _ = try await service.request(Buy()) }
        #expect(typed is ServerFailure<OtherError>)
        let call = await Fixture.failure { try await service.request(.get("x").failing(as: OtherError.self)) }
        #expect(call is ServerFailure<OtherError>)
    }

    @Test("The error that a converter throws is the error of the call, also with a retry policy")
    func converterError() async {
        struct Refused: Error {}
        stub.on(nil, nil, .text("x"))
        let refusing = ResponseConverter<String> { _ in throw Refused() }
        let error = await Fixture.failure {
            _ = try await service { $0.retry = .standard }.request(.get("x"), as: refusing)
        }
        #expect(error is Refused && stub.requests.count == 1)
    }

    @Test("An own Accept does not make reading strict: JSON types are one family, and a missing type passes")
    func jsonFamily() async throws {
        let json = #"{"n":1}"#
        for (accept, type) in [
            ("application/vnd.github+json", "application/json; charset=utf-8"), ("application/json", "text/json"),
            ("application/json", "application/hal+json"), ("application/vnd.api+json", "application/problem+json"),
            ("application/json", nil),
        ] as [(String, String?)] {
            let stub = StubTransport()
            let headers: HTTPHeaders = type.map { [.contentType: $0] } ?? [:]
            stub.on(nil, nil, StubResponse(.ok, headers: headers, body: Data(json.utf8)))
            let service = service { $0.transport = stub }
            let value = try await service.request(.get("x").header(.accept, accept), as: .json(Count.self))
            #expect(value.n == 1)
        }
        stub.on(nil, nil, StubResponse(.ok, headers: [.contentType: "text/html"], body: Data("<p>".utf8)))
        let error = await Fixture.failure {
            _ = try await service().request(.get("x").header(.accept, "application/json"), as: .json(Count.self))
        }
        #expect((error as? NetworkError)?.kind == .unacceptableMediaType)
        #expect((error as? NetworkError)?.hint?.contains("validators: [.status(200..<300)]") == true)
    }

    @Test("\"The body is not JSON\" is said only if it is not JSON")
    func notJSON() async {
        let misfit = "the body is JSON, but has a value that cannot be decoded, for example a number that does not fit"
        #expect(await text(.json(text: #""closed""#), Status.self) == "\(misfit) (reading Status)")
        #expect(await text(.json(text: "1e400"), Int.self) == "\(misfit) (reading Int)")
        let cyrillic: HTTPHeaders = [.contentType: "application/json; charset=windows-1251"]
        let body = Data([0x22, 0xEF, 0x22])
        #expect(
            await text(StubResponse(.ok, headers: cyrillic, body: body), Status.self)
                == "the body is not JSON in UTF-8; its charset is windows-1251 (reading Status)")
        #expect(await text(.json(text: "{"), Count.self) == "the body is not JSON (reading Count)")
        let large = "[\"" + String(repeating: "a", count: 20_000)
        #expect(
            await text(.json(text: large), [String].self)
                == "the body is not JSON, or has a value that cannot be decoded (reading Array<String>)")
    }

    @Test("White space is an empty body if JSON is read")
    func whiteSpace() async throws {
        stub.on(nil, nil, .json(text: " \r\n\t"))
        let none: Count? = try await service().request(.get("x"))
        #expect(none == nil)
        #expect(try await service().request(.get("x"), as: .optional(.json(Count.self))) == nil)
        #expect(try await service().request(.get("x"), as: .optional(.string)) == " \r\n\t")
        #expect(await text(.json(text: "\n"), Count.self) == "the body is empty (reading Count)")
    }

    @Test("A successful status that is rejected says which one was expected")
    func rejectedSuccess() async {
        stub.on(nil, nil, .status(.ok))
        let error = await Fixture.failure {
            try await service().request(.get("x").settings { $0.validators = [.status([.created, .noContent])] })
        }
        #expect((error as? NetworkError)?.reason == "200 OK, expected 201, 204")
        stub.on(nil, nil, .status(.conflict))
        let rejected = await Fixture.failure { try await service().request(.get("x")) } as? NetworkError
        #expect(rejected?.reason == nil && rejected?.status == .conflict)
    }

    @Test("A 401 after a redirect to another origin names the redirect")
    func unauthorizedAfterRedirect() async {
        stub.on(.get, "/v1/old", .status(.found, headers: [.location: "https://other.example/new"]))
        stub.on(.get, "/new", .status(.unauthorized))
        let error = await Fixture.failure {
            let environment = NetworkEnvironment(baseURL: Fixture.environment.baseURL, headers: ["X-Api-Key": "key"])
            try await service { $0.environment = environment }.request(.get("old"))
        }
        let cause = (error as? GeneralRequestError)?.cause
        #expect(
            cause?.reason == "401 Unauthorized after a redirect from api.example.com to another origin, "
                + "which does not receive the secret fields for the first origin")
    }

    @Test("The indexes of an array have no gap where a nil is omitted")
    func indexes() throws {
        let query = try URLQueryEncoder(arrays: .indexed).encode(["t": ["a", nil, "b"]])
        #expect(query.items.map(\.name) == ["t[0]", "t[1]"])
        let written = try URLQueryEncoder(arrays: .indexed, nils: .empty).encode(["t": ["a", nil, "b"]])
        #expect(written.items.map(\.name) == ["t[0]", "t[1]", "t[2]"])
    }
}
