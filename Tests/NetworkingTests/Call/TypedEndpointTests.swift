import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Typed endpoints and server errors", .endsInTime)
struct TypedEndpointTests {
    private struct Grant: Codable, Equatable { let token: String }
    private struct LoginError: Codable, Equatable, LocalizedError {
        let message: String
        var errorDescription: String? { message }
    }

    private struct LogIn: TypedEndpoint {
        typealias ResponseValue = Grant
        typealias ServerError = LoginError
        var path: EndpointPath { "login" }
        var method: HTTPMethod { .post }
        var ownError: (@Sendable (HTTPStatus) -> (any Error)?)?
        var problemError: (@Sendable (ProblemDetails) -> (any Error)?)?
        func error(for status: HTTPStatus) -> (any Error)? { ownError?(status) }
        func error(for problem: ProblemDetails) -> (any Error)? { problemError?(problem) }
    }

    private struct Call<ResponseValue: Decodable & Sendable, ServerError: Decodable & Sendable>: TypedEndpoint {
        var path: EndpointPath { "call" }
    }

    private struct Remove: TypedEndpoint {
        typealias ResponseValue = Void
        var path: EndpointPath { "remove" }
    }

    private func service(_ answer: StubResponse, handlers: [any ErrorHandler] = []) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in answer }
            $0.errorHandlingService = ErrorHandlingService(handlers)
        }
    }

    @Test("Every form of a call infers its result type from the typed endpoint", .row("N-09", "N-16"))
    @MainActor
    func forms() async throws {
        let service = service(.json(Grant(token: "t")))
        let grant = try await service.request(LogIn())
        #expect(grant == Grant(token: "t"))
        #expect(try await service.response(LogIn()).http.status == .ok)
        #expect(try await service.task(LogIn()).value == grant)
        let token = await withCheckedContinuation { continuation in
            service.request(
                for: LogIn(),
                success: { continuation.resume(returning: $0.token) },
                failure: { _ in continuation.resume(returning: "") })
        }
        #expect(token == "t")
        let words = await withCheckedContinuation { continuation in
            service.request(
                for: LogIn(),
                success: { grant in continuation.resume(returning: "\(grant)") },
                failure: { _ in continuation.resume(returning: "") })
        }
        #expect(words == "\(Grant(token: "t"))", "a closure without a stated parameter type gets the value")
        try await service.request(Remove())
        // The endpoint's own converter is used, even if the result is assigned to an optional.
        struct Below: TypedEndpoint {
            typealias ResponseValue = String
            var path: EndpointPath { "x" }
            func converter(decoder: any BodyDecoder) -> ResponseConverter<String> { .keyPath("token", .string) }
        }
        var optional: String? = nil
        optional = try await service.request(Below())
        #expect(optional == "t")
        try await service.request(LogIn())
    }

    @Test("The error contains the server's error, the status, the headers and the request", .row("N-23", "P-11"))
    func serverFailure() async throws {
        let answer = StubResponse(
            .unprocessableContent, headers: ["X-Trace": "7"],
            body: try JSONEncoder().encode(LoginError(message: "too short")))
        do {
            _ = try await service(answer).request(LogIn())
            #expect(Bool(false), "the call succeeded")
        } catch let error as ServerFailure<LoginError> {
            #expect(error.serverError == LoginError(message: "too short"))
            #expect(error.status == .unprocessableContent && error.networkError.response?.headers["X-Trace"] == "7")
            #expect(error.networkError.request?.method == .post && error.networkError.response?.data.isEmpty == false)
            #expect(error.localizedDescription == "too short")
            #expect(error.description == "POST api.example.com/v1/login: 422 Unprocessable Content (LoginError)")
        }
    }

    @Test(
        "The endpoint's error overrides the server's error and the general error; an unreadable body keeps the status"
    )
    func order() async throws {
        let body = StubResponse(.notFound, body: Data(#"{"message":"gone"}"#.utf8))
        let own = LogIn(ownError: { $0 == .notFound ? UserError.taken : nil })
        let first = await Fixture.failure { _ = try await service(body).request(own) }
        #expect(first as? UserError == .taken)
        let second = await Fixture.failure { _ = try await service(body).request(LogIn()) }
        #expect(second is ServerFailure<LoginError>)
        let third = await Fixture.failure { _ = try await service(.status(.notFound)).request(LogIn()) }
        #expect(third as? GeneralRequestError == .notFound)
        let fourth = await Fixture.failure {
            _ = try await service(.text("<html>", status: .badGateway)).request(LogIn())
        }
        #expect((fourth as? NetworkError)?.status == .badGateway)
        let raw = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in body }
            $0.errorMapping = .unmapped
        }
        let fifth = await Fixture.failure { try await raw.request(LogIn()) }
        #expect((fifth as? NetworkError)?.status == .notFound, "with `unmapped`, the original error is thrown")
    }

    @Test("A server error can be a String or an optional; for an optional, an empty body is nil", .row("N-24"))
    func simpleServerErrors() async throws {
        let text = await Fixture.failure {
            try await service(.text("no", status: .conflict)).request(Call<User, String>())
        }
        #expect((text as? ServerFailure<String>)?.serverError == "no")
        let none = await Fixture.failure {
            _ = try await service(.status(.conflict)).request(Call<User, LoginError?>())
        }
        #expect(none is ServerFailure<LoginError?> && (none as? ServerFailure<LoginError?>)?.serverError == nil)
    }

    @Test("An endpoint whose result is Void accepts any body", .row("N-28"))
    func anyBody() async throws {
        for response in [StubResponse.status(.noContent), .text("anything")] {
            await #expect(throws: Never.self) { try await service(response).request(Remove()) }
        }
    }

    @Test(
        "The result type decides how a body is read: as data, as text, as JSON, or as nil if the body is empty",
        .row("N-27"))
    func byType() async throws {
        #expect(try await service(.text("é")).request(Call<String, Untyped>()) == "é")
        #expect(try await service(.text("é")).request(Call<Data, Untyped>()) == Data("é".utf8))
        #expect(try await service(.status(.noContent)).request(Call<String, Untyped>()) == "")
        #expect(try await service(.status(.noContent)).request(Call<User?, Untyped>()) == nil)
        let error = await Fixture.failure {
            _ = try await service(.status(.noContent)).request(Call<User, Untyped>())
        }
        #expect((error as? NetworkError)?.description.contains("the body is empty") == true)
    }

    @Test("Problem details are read with their extension members and passed to the endpoint and to handlers")
    func problems() async throws {
        let json = """
            {"type":"https://a.example/out-of-credit","title":"Out of credit","status":403,"detail":"30 are too few",
             "instance":"/account/12","balance":30,"accounts":["/a","/b"]}
            """
        let answer = StubResponse(
            .forbidden, headers: [.contentType: "application/problem+json"], body: Data(json.utf8))
        let seen = Box<[ProblemDetails?]>([])
        let watching = AdHocErrorHandler { failure in
            seen.change { $0.append(failure.problem) }
            return .next(failure.error)
        }
        let call = LogIn(problemError: { $0.type.hasSuffix("out-of-credit") ? UserError.cloudy : nil })
        let error = await Fixture.failure { _ = try await service(answer, handlers: [watching]).request(call) }
        #expect(error as? UserError == .cloudy)
        let problem = try #require(seen.value.first ?? nil)
        #expect(problem.title == "Out of credit" && problem.status == .forbidden && problem.instance == "/account/12")
        #expect(problem.detail == "30 are too few")
        #expect(problem.extensions == ["balance": 30, "accounts": ["/a", "/b"]])
        struct Credit: Decodable { let balance: Int }
        #expect(try problem.extensions(as: Credit.self).balance == 30)
    }

    @Test(
        "A malformed problem body never hides the status",
        arguments: ["", "{", "[]", "7", #"{"status":"x","title":7}"#, "\u{FEFF}{}"])
    func brokenProblem(text: String) async throws {
        let answer = StubResponse(
            .notFound, headers: [.contentType: "application/problem+json"], body: Data(text.utf8))
        let error = await Fixture.failure {
            try await service(answer).request(LogIn(problemError: { $0.title == nil ? nil : UserError.cloudy }))
        }
        #expect(error as? GeneralRequestError == .notFound)
    }

    @Test("An error that an earlier handler has mapped is not mapped again")
    func mappedBefore() async throws {
        let mapping = AdHocErrorHandler { _ in .next(UserError.cloudy) }
        let answer = StubResponse(.notFound, body: Data(#"{"message":"gone"}"#.utf8))
        let error = await Fixture.failure { _ = try await service(answer, handlers: [mapping]).request(LogIn()) }
        #expect(error as? UserError == .cloudy)
    }

    @Test(
        "The service's decoder also reads the server's error; a status tells whether the error is a client error",
        .row("N-18", "N-25"))
    func decoders() async throws {
        struct Dated: Decodable, Equatable { let at: Date }
        struct Refused: TypedEndpoint {
            typealias ResponseValue = Void
            typealias ServerError = Dated
            var path: EndpointPath { "x" }
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .json(text: #"{"at":7}"#, status: .conflict) }
            $0.settings = RequestSettings { $0.decoder = decoder }
        }
        let error = await Fixture.failure { try await service.request(Refused()) } as? ServerFailure<Dated>
        #expect(error?.serverError == Dated(at: Date(timeIntervalSince1970: 7)))
        #expect(error?.status?.isClientError == true && error?.status?.isSuccessful == false)
    }

    @Test("A retry policy can match the type of the server's error", .row("N-34"))
    func retryByServerError() async throws {
        let stub = StubTransport()
        stub.on(nil, nil, .json(LoginError(message: "busy"), status: .conflict), .json(Grant(token: "t")))
        let policy = RetryPolicy(retries: 1, on: .serverError(LoginError.self), repeatsUnsafeRequests: true)
        let service = NetworkService(environment: Fixture.environment) {
            $0.retry = policy
            $0.transport = stub
        }
        #expect(try await service.request(LogIn()) == Grant(token: "t"))
        let other = StubTransport { _ in .text("busy", status: .conflict) }
        let impatient = NetworkService(environment: Fixture.environment) {
            $0.retry = policy
            $0.transport = other
        }
        _ = await Fixture.failure { try await impatient.request(LogIn()) }
        #expect(other.requests.count == 1)
    }
}
